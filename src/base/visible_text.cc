#include "base/visible_text.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/look_alike.h"

namespace sallyport {

namespace {

// The format controls of Egyptian hieroglyphs join and stack their neighbours. Some of them are
// marks, not format characters.
bool is_hieroglyph_control(char32_t character) {
  return character >= 0x13430 && character <= 0x1345F;
}

// True for characters without a shape of their own, that reorder text, end a line, or depend on the
// font. Decided by property, so that the next version of Unicode needs no new list.
bool is_hidden(char32_t character) {
  const auto point = static_cast<UChar32>(character);
  switch (u_charType(point)) {
    case U_CONTROL_CHAR:
    case U_FORMAT_CHAR:
    case U_LINE_SEPARATOR:
    case U_PARAGRAPH_SEPARATOR:
    case U_PRIVATE_USE_CHAR:
    case U_SURROGATE:
    case U_UNASSIGNED:  // and the noncharacters
      return true;
    default:
      break;
  }
  // Assigned but empty: the object replacement character, a Braille cell without dots.
  constexpr char32_t kObject = 0xFFFC;
  constexpr char32_t kNoDots = 0x2800;
  return character == kObject || character == kNoDots || is_hieroglyph_control(character) ||
         u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0;
}

constexpr bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f;
}

// Dashes, quotes and dots of prose. They look like ASCII and are common in texts.
bool is_typographic(char32_t point) {
  constexpr auto kSigns =
      std::to_array<char32_t>({0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2026});
  return std::ranges::find(kSigns, point) != kSigns.end();
}

// The length of the prefix of visible ASCII.
std::size_t plain_bytes(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

// Copies runs of plain bytes and calls `show` for every other code point. Invalid bytes have the
// length 0.
template <class Show>
std::string point_by_point(std::string_view text, const Show& show) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = plain_bytes(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Point next = decode_utf8(text);
    const std::size_t length = std::max<std::size_t>(next.length, 1);
    show(out, next, text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

// `show_byte` writes a byte that is not UTF-8.
template <class Escape, class ShowByte>
std::string with_escapes(std::string_view text, const Escape& escape, const ShowByte& show_byte) {
  return point_by_point(text, [&](std::string& out, const Utf8Point& next, std::string_view bytes) {
    if (next.length == 0) {
      show_byte(out, static_cast<unsigned char>(bytes[0]));
    } else if (is_hidden(next.point)) {
      escape(out, next.point);
    } else {
      out += bytes;
    }
  });
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
  return with_escapes(
      text,
      [](std::string& out, char32_t point) {
        out += fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(point));
      },
      [](std::string& out, unsigned char byte) { out += fmt::format("\\x{{{:02X}}}", byte); });
}

std::string visible_json(std::string_view json) {
  return with_escapes(
      json,
      [](std::string& out, char32_t point) {
        const auto unit = [&](std::uint32_t value) { out += fmt::format("\\u{:04x}", value); };
        if (point < 0x10000) return unit(point);
        unit(0xd800 + ((point - 0x10000) >> 10));
        unit(0xdc00 + ((point - 0x10000) & 0x3ff));
      },
      [](std::string& out, unsigned char) { out += "\\ufffd"; });
}

std::string with_lookalikes(std::string_view text) {
  return point_by_point(text, [](std::string& out, const Utf8Point& next, std::string_view bytes) {
    out += bytes;
    if (looks_like_ascii(next.point) && !is_typographic(next.point)) {
      out += fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(next.point));
    }
  });
}

}  // namespace sallyport
