// The exact JSON of a call, for a waiting call that survives a restart. It is stored encrypted.
#pragma once

#include "sallyport/call.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::core {

json::object to_json(const Call& call);
Result<Call> call_from_json(const json::value& value);

}  // namespace sallyport::core
