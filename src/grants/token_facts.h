// Facts about tokens in the ledger's store: which were issued or seen, and which are revoked. The
// tokens themselves are not stored (CG-64).
#pragma once

#include <string>
#include <vector>

#include "core/record/record_reader.h"
#include "grants/token.h"

namespace sallyport::grants {

struct KnownToken {
  std::string id;
  std::string digest;
  std::string issuer;
  std::string principal;
  std::uint64_t issued_at = 0;
  std::uint64_t expires_at = 0;
  std::uint64_t grants = 0;  // the number of grants
  std::string origin;        // `issued` here, or `seen` in a call
  std::string parent{};      // digest of the token that it was delegated from; empty: a root
};

core::Fact token_fact(const Token& token, std::string_view origin);
Result<std::optional<KnownToken>> known_token(core::RecordReader& reader, const std::string& id);
Result<std::vector<KnownToken>> known_tokens(core::RecordReader& reader);

core::Fact revoked_fact(const std::string& id);
Result<bool> is_revoked(core::RecordReader& reader, const std::string& id);

// The key of the counter of one grant of a token.
std::string counter_key(std::string_view digest, std::uint64_t index);

}  // namespace sallyport::grants
