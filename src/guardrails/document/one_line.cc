#include "guardrails/document/one_line.h"

#include <fmt/format.h>

#include "match/utf8.h"

namespace sallyport::guardrails {

std::string in_one_line(std::string_view text) {
  constexpr std::size_t kMostCharacters = 512;
  std::string line;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == kMostCharacters) return line + "...";
    const match::Decoded next = match::decode_first(text);
    text.remove_prefix(next.size);
    const char32_t c = next.kind == match::Decoded::Kind::Character ? next.character
                                                                    : match::kReplacementCharacter;
    const bool control = c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
    if (control) {
      line += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
    } else {
      match::append_utf8(line, c);
    }
  }
  return line;
}

}  // namespace sallyport::guardrails
