// Reads UTF-8 character by character. Each maximal ill-formed part becomes one U+FFFD, as Unicode
// recommends, and the reader returns how many bytes it had.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::match {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

struct Decoded {
  enum class Kind { Character, IllFormed, Unfinished };

  Kind kind;
  char32_t character;
  std::size_t size;  // bytes taken; for an unfinished character the available ones
};

// A character of more than one byte, or its available part.
Decoded decode_long(std::string_view bytes);

// `bytes` is not empty. `Unfinished`: all of it is a valid beginning of a character.
inline Decoded decode_first(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes.front());
  return lead < 0x80 ? Decoded{Decoded::Kind::Character, lead, 1} : decode_long(bytes);
}

// The character (or ill-formed part, as U+FFFD) that ends at the start of another one.
std::optional<char32_t> character_before(std::string_view bytes, std::size_t place);

void append_utf8(std::string& text, char32_t character);

// Replaces every ill-formed part, also an unfinished one at the end, by U+FFFD.
std::string well_formed(std::string_view bytes);
void append_well_formed(std::string& text, std::string_view bytes);

}  // namespace sallyport::match
