// One line of the log of a running process, as text for people or as JSON for programs.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"

namespace sallyport::app {

enum class LogForm { Text, Json };

// Without its line end. As text `sallyport: MESSAGE`; as JSON an object with `time`, `level`
// (`info`, `warning` or `error`) and `message`, and with `server` where a tool server said it. A
// message that begins with its level (`warning: `) has that level.
std::string log_line(LogForm form, WallTime time, std::string_view message);

}  // namespace sallyport::app
