// Which members of a tool's input hold commands.
#pragma once

#include <string_view>

namespace sallyport::core {

// True for `command`, `cmd`, `script`, `args` and the like, also as the last word of a longer name
// (`shellCommand`, `run_script`).
bool is_command_name(std::string_view name);

}  // namespace sallyport::core
