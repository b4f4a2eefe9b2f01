// The detector `gcp_service_account`: a credential file of Google Cloud, known by its shape.
#pragma once

#include <boost/json/object.hpp>

#include "sallyport/json.h"

namespace sallyport::guards {

// True if `type` is `service_account` and `private_key` is not yet redacted.
bool is_service_account(const json::object& object);
// The same, with no member that such a file does not have. Of an input that people decide about,
// only such an object may be hidden whole: another one could hide a command (AP-38).
bool is_bare_service_account(const json::object& object);

}  // namespace sallyport::guards
