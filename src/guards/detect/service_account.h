// The detector `gcp_service_account`: a credential file of Google Cloud, known by its shape.
#pragma once

#include <boost/json/object.hpp>

#include "sallyport/json.h"

namespace sallyport::guards {

// `type` is `service_account` and there is a `private_key` that is not yet taken away.
bool is_service_account(const json::object& object);

}  // namespace sallyport::guards
