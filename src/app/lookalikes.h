// Letters that look like ASCII letters and are not (AP-40).
#pragma once

#include <string>
#include <string_view>

namespace sallyport::app {

// Each such letter is followed by its number as `\u{0430}`; everything else stays as it is. Given
// UTF-8, as `visible` makes it.
std::string with_lookalikes(std::string_view text);

}  // namespace sallyport::app
