// The first door: rewriting guards once, then the deciding ones until the input rests.
#pragma once

#include "base/async.h"
#include "base/clock.h"
#include "core/trail.h"

namespace sallyport::core {

// Afterwards every guard of the plan is listed once per pass, and the trail is open or refused.
Async<void> decide(Trail& trail, const Clock& clock);

}  // namespace sallyport::core
