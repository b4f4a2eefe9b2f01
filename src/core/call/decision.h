// What the guards of the first door decide: the rewriting ones once, then the deciding ones until
// they leave the input as it is.
#pragma once

#include <stop_token>

#include "base/async.h"
#include "base/clock.h"
#include "core/call/trail.h"

namespace sallyport::core {

// Afterwards every guard of the plan is listed once per pass, and the trail is open or refused.
// Continues the passes of an earlier run over the same decision, as after a preparation, when
// rewriting is over.
Async<void> decide(Trail& trail, const Preview& preview, const Clock& clock,
                   std::stop_token cancel);

// For a decision that ended before any guard was asked: all of them, as skipped.
void list_unreached(Trail& trail);

}  // namespace sallyport::core
