// Text for people, from any source: no character hides or moves another (AP-39), and none passes
// for another (AP-40).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport {

// Control, format, bidirectional, zero-width, tag, private-use and unassigned characters and line
// separators as `\u{XXXX}`; bytes that are not UTF-8 as `\x{XX}`. The result is one line.
std::string visible(std::string_view text);

// The same characters inside JSON text as JSON's own escapes, so that the value stays what it is.
std::string visible_json(std::string_view json);

// Each character that looks like one of ASCII and is not is followed by its number as `\u{0430}`;
// everything else stays as it is, also the quotes and dashes of prose.
std::string with_lookalikes(std::string_view text);

struct Utf8Point {
  char32_t point = 0;
  std::size_t length = 0;  // 0: not UTF-8
};
// The first one of a text that is not empty.
Utf8Point decode_utf8(std::string_view text);

}  // namespace sallyport
