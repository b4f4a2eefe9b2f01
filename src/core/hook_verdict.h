// What a hook after the call says, as JSON: for hooks that are not C++ (PI-1, PI-86).
#pragma once

#include <string>

#include "sallyport/json.h"
#include "sallyport/result.h"
#include "sallyport/verdict.h"

namespace sallyport::core {

// `Verdict::Ask` has no form: nobody can be asked any more.
Result<json::object> hook_verdict_to_json(const Verdict& verdict);

// Exactly the four shapes. `InvalidInput` names the member; a hook that answers it has failed as
// `malformed`.
Result<Verdict> hook_verdict_from_json(const json::value& value, std::string where = "verdict");

}  // namespace sallyport::core
