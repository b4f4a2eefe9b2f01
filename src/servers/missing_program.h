#pragma once

#include <string>
#include <vector>

namespace sallyport::app {

// Says why the program of a command cannot be started; empty: it is there. Searches `path` (as in
// PATH) as the system does.
std::string missing_program(const std::vector<std::string>& command, const std::string& path);

}  // namespace sallyport::app
