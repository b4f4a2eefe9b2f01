// People as a policy registers them: `[{name, key?, token?, client?, roles[]}]`.
#pragma once

#include <string>

#include "trust/control.h"

namespace sallyport::trust {

// `InvalidInput` names the place: an unknown member or role, or a name, a key, a token or a client
// that occurs twice.
Result<Reviewers> reviewers_from_json(const json::value& value, std::string where = "reviewers");

}  // namespace sallyport::trust
