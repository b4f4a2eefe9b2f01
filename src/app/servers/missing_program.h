#pragma once

#include <string>
#include <vector>

namespace sallyport::app {

// What keeps the program of a command from being started, as far as that can be seen now: empty
// where it is there. Looked for as the system would, along `path` (as in PATH).
std::string missing_program(const std::vector<std::string>& command, const std::string& path);

}  // namespace sallyport::app
