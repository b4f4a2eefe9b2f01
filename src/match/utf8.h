// UTF-8 read character by character. What is not UTF-8 becomes one U+FFFD for each maximal
// ill-formed part, as Unicode recommends, and the reader says how many bytes that part had.
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
  std::size_t size;  // bytes taken; for an unfinished one, those that are there
};

// A character of more than one byte, or what is there of it.
Decoded decode_long(std::string_view bytes);

// `bytes` is not empty. `Unfinished`: all of it is a good beginning, and the rest may still come.
inline Decoded decode_first(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes.front());
  return lead < 0x80 ? Decoded{Decoded::Kind::Character, lead, 1} : decode_long(bytes);
}

// The character (or ill-formed part, as U+FFFD) that ends where another one begins.
std::optional<char32_t> character_before(std::string_view bytes, std::size_t place);

void append_utf8(std::string& text, char32_t character);

// The same text with every ill-formed part, an unfinished one at the end too, replaced by U+FFFD.
std::string well_formed(std::string_view bytes);
void append_well_formed(std::string& text, std::string_view bytes);

}  // namespace sallyport::match
