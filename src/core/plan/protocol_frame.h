// The effect class under which guards of results see what no tool said: how a server opens, and
// what it lists. Content is taken out of it as of a result, but it is never cut: half a list is no
// list.
#pragma once

#include <string_view>

namespace sallyport::core {

inline constexpr std::string_view kProtocolFrame = "protocol";

}  // namespace sallyport::core
