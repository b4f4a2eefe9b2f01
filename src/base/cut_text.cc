#include "base/cut_text.h"

#include <algorithm>

#include "sallyport/json.h"

namespace sallyport {

namespace {

bool continues_a_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// The characters of keys, tokens, addresses and numbers.
bool continues_a_word(char c) {
  constexpr std::string_view kSigns = "_-+/=.~%@:";
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || kSigns.contains(c);
}

}  // namespace

std::string cut_utf8_bytes(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && continues_a_code_point(text[end])) --end;
  return std::string(text.substr(0, end));
}

std::string cut_whole_words(std::string_view text, std::size_t limit) {
  std::string cut = cut_utf8_bytes(text, limit);
  const bool breaks = cut.size() < text.size() && continues_a_word(text[cut.size()]);
  while (breaks && !cut.empty() && continues_a_word(cut.back())) cut.pop_back();
  return cut;
}

std::string cut_code_points(std::string_view text, std::size_t limit) {
  std::size_t begun = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continues_a_code_point(text[i])) continue;
    if (begun == limit) return std::string(text.substr(0, i));
    ++begun;
  }
  return std::string(text);
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues_a_code_point(byte); }));
}

std::string readable(std::string_view text) {
  return is_utf8(text) ? std::string(text) : "[unreadable]";
}

}  // namespace sallyport
