#include "grants/leaves.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace sallyport::grants {

std::string_view without_front(std::string_view text) {
  const auto size = static_cast<std::int32_t>(std::min<std::size_t>(text.size(), INT32_MAX));
  std::int32_t begin = 0;
  for (std::int32_t next = 0; next < size; begin = next) {
    UChar32 letter = 0;
    U8_NEXT(text.data(), next, size, letter);
    const auto type = letter < 0 ? U_UNASSIGNED : u_charType(letter);
    const bool ignored =
        type == U_CONTROL_CHAR || type == U_FORMAT_CHAR || (letter >= 0 && u_isUWhiteSpace(letter));
    if (!ignored) break;
  }
  return text.substr(static_cast<std::size_t>(begin));
}

}  // namespace sallyport::grants
