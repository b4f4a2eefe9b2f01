// A `requestState`: data that the client carries between two requests, for us or for a stateless
// server. The client cannot read, change, reuse or move it to another request (AP-32).
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/record/record_log.h"
#include "core/record/vault.h"

namespace sallyport::mcp {

struct SealedState {
  std::string id{};         // used once
  std::string principal{};  // who was asked
  std::string session{};
  std::string approval_id{};
  std::string binding{};  // of the approval
  std::string request{};  // digest of method and params
  std::string expires{};  // RFC 3339
  std::string carried{};  // the server's own state, JSON text; empty: it is about an approval

  bool operator==(const SealedState&) const = default;
};

// True if it has the form of our sealed states.
bool is_sealed(std::string_view text);

std::string seal(core::Vault& vault, const SealedState& state);
// `InvalidInput`: it is not sealed by this ledger's key, was changed, or has expired.
Result<SealedState> unseal(const core::Vault& vault, std::string_view text, WallTime now);

// `Conflict`: it was used before, in any process.
Task<void> use_once(core::RecordLog& records, SealedState state);

}  // namespace sallyport::mcp
