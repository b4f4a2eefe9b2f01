// The grant that matches a call, and what the call spends from it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/plan/budgets.h"
#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/scope.h"

namespace sallyport::core {

struct GrantUse {
  std::shared_ptr<const Scope> scope;  // of the presented token
  std::uint64_t index = 0;             // into `scope->grants`
  std::optional<Autonomy> ceiling{};
  Spending spending{};
};

// The scope of a call or message that presents no token. It is there, and it has no grants.
std::shared_ptr<const Scope> no_grants();

// What the second door needs of a grant, for a result that comes back later.
json::object grant_use_json(const GrantUse& use);
Result<GrantUse> grant_use_from_json(const json::value& value);

}  // namespace sallyport::core
