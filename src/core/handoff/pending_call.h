// A call that waits, as those see it who are asked about it or execute it elsewhere (AU-53).
#pragma once

#include "core/call/trail.h"
#include "sallyport/continuation.h"

namespace sallyport::core {

PendingCall pending_call(const Trail& trail);

}  // namespace sallyport::core
