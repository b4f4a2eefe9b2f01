// The effect class under which result guards see messages that are not results: the `initialize`
// response of a server, and its lists. Guards redact them like results but never cut them, because
// half a list is useless.
#pragma once

#include <string_view>

namespace sallyport::core {

inline constexpr std::string_view kProtocolFrame = "protocol";

}  // namespace sallyport::core
