// Makes text from any source safe to show: no character hides or moves another (AP-39), and none
// passes for another (AP-40).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport {

// Writes control, format, bidirectional, zero-width, tag, private-use and unassigned characters and
// line separators as `\u{XXXX}`, and bytes that are not UTF-8 as `\x{XX}`. The result is one line.
std::string visible(std::string_view text);

// Writes the same characters in JSON text as JSON escapes, so that the value does not change. A byte
// that is not UTF-8 becomes `\ufffd`, so that every parser reads the text.
std::string visible_json(std::string_view json);

// Adds the number of each character outside ASCII that looks like ASCII, as `\u{0430}`. Everything
// else is unchanged, also the quotes and dashes of prose.
std::string with_lookalikes(std::string_view text);

struct Utf8Point {
  char32_t point = 0;
  std::size_t length = 0;  // 0: not UTF-8
};
// The first code point of a text that is not empty.
Utf8Point decode_utf8(std::string_view text);

}  // namespace sallyport
