// Finds base64 that encodes readable text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::guards {

// What the text says where all of it is base64 of readable UTF-8: either alphabet, with or without
// padding, with line ends between. Nothing for anything else, such as an image; that is found out
// by the first bytes.
std::optional<std::string> text_in_base64(std::string_view text);

}  // namespace sallyport::guards
