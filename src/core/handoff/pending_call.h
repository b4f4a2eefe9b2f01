// A waiting call, as the people who are asked and the program that runs it see it (AU-53).
#pragma once

#include "core/call/trail.h"
#include "sallyport/continuation.h"

namespace sallyport::core {

PendingCall pending_call(const Trail& trail);

}  // namespace sallyport::core
