// How long ago something was, in one number and one unit.
#pragma once

#include <string>

#include "base/clock.h"

namespace sallyport::app {

// `time` is RFC 3339; "?" if it is not. A time in the future is "0 s".
std::string age_of(const std::string& time, WallTime now);

}  // namespace sallyport::app
