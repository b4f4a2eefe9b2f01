// Shortens text for previews without breaking a character in two.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport {

// The longest beginning of at most `limit` bytes that ends where a code point ends.
std::string cut_utf8_bytes(std::string_view text, std::size_t limit);

// The same, without the word that the cut would break in two: half a secret is recognised by no
// detector, and is still half a secret.
std::string cut_whole_words(std::string_view text, std::size_t limit);

// The first `limit` code points.
std::string cut_code_points(std::string_view text, std::size_t limit);

// The text, or a mark in its place where it is not UTF-8 and so can stand nowhere.
std::string readable(std::string_view text);

}  // namespace sallyport
