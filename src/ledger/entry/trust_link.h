// Links the trust records of a ledger: each names the hash of the one before it. The write
// transaction assigns index and link, so that two writers cannot fork the chain (TR-5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/record/draft.h"
#include "ledger/store.h"
#include "sallyport/json.h"

namespace sallyport::ledger {

// The record as it is hashed and exported: keys sorted, costs with a decimal point, which RFC 8785
// would leave out.
std::string trust_record_text(const json::object& record);

// `sha256:` and hex, of the record without its `entry_hash`.
std::string trust_entry_hash(json::object record);

// The end of the chain, as the fact `trust/head` keeps it.
struct TrustHead {
  std::uint64_t index = 0;
  std::optional<std::string> hash{};  // no value: there is no record yet

  core::Fact fact() const;
};
Result<TrustHead> trust_head(ReadView& view);

// True if the draft changes an agent's tier. Only a signed command may write one; the ordinary
// append refuses it (TR-15, TR-17).
bool is_trust_control(const core::Draft& draft);

}  // namespace sallyport::ledger
