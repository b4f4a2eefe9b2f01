// The checks of a call before anything about it is written. The Governor makes them for every call;
// a front that needs them earlier makes them too.
#pragma once

#include "core/record/redactor.h"
#include "sallyport/call.h"
#include "sallyport/result.h"

namespace sallyport::core {

// `InvalidInput`: a name or an id that is too long or not UTF-8, no tool, or an input that nests
// too deep.
Result<void> check_call(const Call& call);
// `InvalidInput` also if `trigger_id` holds a secret.
Result<void> check_call(const Call& call, const Redactor& redactor);

}  // namespace sallyport::core
