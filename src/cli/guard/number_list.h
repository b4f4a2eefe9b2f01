// `3,0,5` on the command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::app {

// Nothing given is an empty list. `InvalidInput` names the option.
Result<std::vector<std::size_t>> number_list(const std::optional<std::string>& text,
                                             const std::string& option);

}  // namespace sallyport::app
