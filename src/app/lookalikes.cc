#include "app/lookalikes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sallyport::app {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Scripts and blocks whose letters pass for those of ASCII. Whole blocks, because which letters do
// depends on the font.
constexpr auto kRanges = std::to_array<Range>({
    {0x0131, 0x0131},    // dotless i
    {0x017F, 0x017F},    // long s
    {0x0251, 0x0261},    // script a and g of phonetics
    {0x0370, 0x03FF},    // Greek
    {0x0400, 0x052F},    // Cyrillic
    {0x0531, 0x058F},    // Armenian
    {0x13A0, 0x13FF},    // Cherokee
    {0x2100, 0x218F},    // letter-like signs, Roman numerals
    {0x2C60, 0x2C7F},    // Latin extended C
    {0x2C80, 0x2CFF},    // Coptic
    {0xA4D0, 0xA4FF},    // Lisu
    {0xFF01, 0xFF5E},    // full width
    {0x1D400, 0x1D7FF},  // mathematical
});

bool looks_like_ascii(char32_t point) {
  return std::ranges::any_of(
      kRanges, [&](const Range& range) { return point >= range.first && point <= range.last; });
}

std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xE0) return 2;
  return first < 0xF0 ? 3 : 4;
}

char32_t point_of(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() == 1) return first;
  char32_t point = first & (0xFFu >> (bytes.size() + 1));
  for (const char byte : bytes.substr(1)) {
    point = point << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  }
  return point;
}

}  // namespace

std::string with_lookalikes(std::string_view text) {
  std::string marked;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view bytes = text.substr(at, length_of(static_cast<unsigned char>(text[at])));
    const char32_t point = point_of(bytes);
    marked += bytes;
    if (looks_like_ascii(point))
      marked += fmt::format("\\u{{{:04X}}}", static_cast<unsigned>(point));
    at += bytes.size();
  }
  return marked;
}

}  // namespace sallyport::app
