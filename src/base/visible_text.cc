#include "base/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace sallyport {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Sorted. What has no shape of its own, changes the order of its neighbours, ends a line, or looks
// like whatever a font makes of it.
constexpr auto kHidden = std::to_array<Range>({
    {0x0000, 0x001f},   {0x007f, 0x009f},    {0x00ad, 0x00ad},   {0x034f, 0x034f},
    {0x061c, 0x061c},   {0x115f, 0x1160},    {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},    {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xe000, 0xf8ff},   {0xfe00, 0xfe0f},    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0xfffe, 0xffff},    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff},
});

bool is_hidden(char32_t point) {
  const auto* const range = std::ranges::lower_bound(kHidden, point, {}, &Range::last);
  return range != kHidden.end() && range->first <= point;
}

// Scripts and blocks whose letters pass for those of ASCII. Whole blocks, because which letters do
// depends on the font.
constexpr auto kLikeAscii = std::to_array<Range>({
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
      kLikeAscii, [&](const Range& range) { return point >= range.first && point <= range.last; });
}

template <class Escape>
std::string with_escapes(std::string_view text, const Escape& escape) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Point next = decode_utf8(text);
    const std::size_t length = std::max<std::size_t>(next.length, 1);
    if (next.length == 0) {
      out += fmt::format("\\x{{{:02X}}}", static_cast<unsigned char>(text[0]));
    } else if (is_hidden(next.point)) {
      escape(out, next.point);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

Utf8Point decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t point = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kLeast[length] || point > 0x10ffff || surrogate) return {};
  return {point, length};
}

std::string visible(std::string_view text) {
  return with_escapes(text, [](std::string& out, char32_t point) {
    out += fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(point));
  });
}

std::string visible_json(std::string_view json) {
  return with_escapes(json, [](std::string& out, char32_t point) {
    const auto unit = [&](std::uint32_t value) { out += fmt::format("\\u{:04x}", value); };
    if (point < 0x10000) return unit(point);
    unit(0xd800 + ((point - 0x10000) >> 10));
    unit(0xdc00 + ((point - 0x10000) & 0x3ff));
  });
}

std::string with_lookalikes(std::string_view text) {
  std::string marked;
  while (!text.empty()) {
    const Utf8Point next = decode_utf8(text);
    const std::size_t length = std::max<std::size_t>(next.length, 1);
    marked += text.substr(0, length);
    if (looks_like_ascii(next.point)) {
      marked += fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(next.point));
    }
    text.remove_prefix(length);
  }
  return marked;
}

}  // namespace sallyport
