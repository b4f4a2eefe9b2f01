// What a call takes from the budgets of its grant.
#pragma once

#include "core/plan/budgets.h"
#include "grants/token.h"

namespace sallyport::grants {

// What a call takes from the grant at `index` of the last token of a chain, and from the grants of
// earlier tokens that this one was attenuated from (CG-32). `core/plan/budgets.h` charges it.
core::Spending spending_of(const TokenChain& chain, std::size_t index);

}  // namespace sallyport::grants
