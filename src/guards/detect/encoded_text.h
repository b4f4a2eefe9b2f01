// Finds base64 that encodes readable text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::guards {

// Decodes a text that is base64 of readable UTF-8 as a whole: either alphabet, with or without
// padding, with line ends. No value for anything else, such as an image; the first bytes decide
// that.
std::optional<std::string> text_in_base64(std::string_view text);

}  // namespace sallyport::guards
