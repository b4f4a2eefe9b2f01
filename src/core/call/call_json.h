// A call as JSON, exact, for what keeps a waiting call over a restart. Always encrypted there.
#pragma once

#include "sallyport/call.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::core {

json::object to_json(const Call& call);
Result<Call> call_from_json(const json::value& value);

}  // namespace sallyport::core
