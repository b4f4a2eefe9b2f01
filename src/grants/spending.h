// What a call takes from the budgets of its grant.
#pragma once

#include "core/plan/budgets.h"
#include "grants/token.h"

namespace sallyport::grants {

// What a call takes from the grant at `index` of the leaf, and from every grant it came from
// (CG-32).
core::Spending spending_of(const TokenChain& chain, std::size_t index);

}  // namespace sallyport::grants
