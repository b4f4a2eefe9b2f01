// Names of topics: 1 to 128 of `A-Za-z0-9._-` (LG-1).
#pragma once

#include <string_view>

#include "sallyport/result.h"

namespace sallyport::core {

// `InvalidInput` for any other.
Result<void> check_topic_name(std::string_view name);

}  // namespace sallyport::core
