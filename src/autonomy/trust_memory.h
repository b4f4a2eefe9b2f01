// The trust record of a call that has ended.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "core/approval/approval_state.h"
#include "core/plan/autonomy_rules.h"
#include "core/record/draft.h"

namespace sallyport::autonomy {

core::Draft trust_memory(const core::Remembered& ended, WallTime now, const Clock& clock,
                         Entropy& entropy);

// Returns `core::close_interrupted`, which closes a call whose process died, with the trust record
// of a call that the tiers of a policy have weighed: `failure` if it may have run (AT-28), `denied`
// if it cannot run any more (AP-21). The clock and the entropy must outlive the function.
std::function<std::vector<core::Draft>(const json::object& entry)> closing_interrupted(
    const Clock& clock, Entropy& entropy);

// The same for `core::close_left`: a call that waited for a person and was never resumed.
std::function<std::vector<core::Draft>(const json::object& entry, core::ApprovalStatus)>
closing_left(const Clock& clock, Entropy& entropy);

}  // namespace sallyport::autonomy
