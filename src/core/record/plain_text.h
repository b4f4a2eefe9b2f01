// Text that an agent, a hook or a terminal may see: without secrets, without control characters
// (PI-88).
#pragma once

#include <string>

#include "core/record/redactor.h"

namespace sallyport::core {

std::string plain_text(const Redactor& redactor, std::string text);

}  // namespace sallyport::core
