// A QR code of blocks for a terminal, so that a phone can read a link.
#pragma once

#include <string>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::app {

// Two rows of modules in each line, with the quiet zone around them; light modules are blocks, as on
// a dark terminal. `InvalidInput`: the text is too long for one code.
Result<std::vector<std::string>> qr_lines(const std::string& text);

}  // namespace sallyport::app
