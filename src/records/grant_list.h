// The tokens that were issued or seen, as the ledger knows them (CG-63): with what was spent of
// them and the token that each was narrowed from.
#pragma once

#include <string>
#include <vector>

#include "core/plan/budgets.h"
#include "grants/token_facts.h"

namespace sallyport::app {

struct GrantRow {
  grants::KnownToken token{};
  std::string state{};  // valid, expired, revoked, not yet valid
  core::budgets::Count count{};
};
json::object to_json(const GrantRow& row);

// The oldest first.
Result<std::vector<GrantRow>> grant_rows(core::RecordReader& reader, WallTime now);

struct Revocation {
  core::Draft draft{};  // the entry, with the fact that makes it count
  bool known = false;   // the token was issued or seen here
};
// A token need not be known: it may be presented later. `NotFound`: this is no id of a token.
// `Conflict`: it is revoked already. `InvalidInput`: the reason is empty.
Result<Revocation> revocation(core::RecordReader& reader, const std::string& id,
                              const std::string& who, const std::string& reason);

}  // namespace sallyport::app
