// From arguments to an exit code.
#pragma once

#include <string>
#include <vector>

namespace sallyport::app {

int run(std::vector<std::string> arguments);

}  // namespace sallyport::app
