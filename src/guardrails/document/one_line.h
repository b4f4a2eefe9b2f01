// Outside input in a message that must stay one line.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::guardrails {

// At most 512 characters, so that an entry of a check is always whole; what would end a line or
// steer a terminal is spelt `\u{..}`.
std::string in_one_line(std::string_view text);

}  // namespace sallyport::guardrails
