// The checks of a call before anything about it is written. Every front makes them.
#pragma once

#include "sallyport/call.h"
#include "sallyport/result.h"

namespace sallyport::core {

// `InvalidInput`: a name or an id that is too long or not UTF-8, no tool, or an input that nests
// too deep.
Result<void> check_call(const Call& call);

}  // namespace sallyport::core
