// The budgets that a call uses.
#pragma once

#include "core/plan/budgets.h"
#include "grants/token.h"

namespace sallyport::grants {

// The budgets of the grant at `index` of the leaf of a chain, and of the grants of its ancestors
// that it was attenuated from (CG-32). `core/plan/budgets.h` charges them.
core::Spending spending_of(const TokenChain& chain, std::size_t index);

}  // namespace sallyport::grants
