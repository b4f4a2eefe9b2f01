// Shortens text for previews without breaking a character in two.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport {

// The longest prefix of at most `limit` bytes that ends at a code point boundary.
std::string cut_utf8_bytes(std::string_view text, std::size_t limit);

// The same, without the word that the cut would split: no detector recognises half a secret.
std::string cut_whole_words(std::string_view text, std::size_t limit);

// The first `limit` code points.
std::string cut_code_points(std::string_view text, std::size_t limit);

// How many code points a UTF-8 text has.
std::size_t code_points(std::string_view text);

// The text if it is UTF-8, otherwise a placeholder.
std::string readable(std::string_view text);

}  // namespace sallyport
