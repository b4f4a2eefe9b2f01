#include "app/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace sallyport::app {

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

struct Decoded {
  char32_t point = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

Decoded decode(std::string_view text) {
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

template <class Escape>
std::string with_escapes(std::string_view text, const Escape& escape) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
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

// Where column `width` begins, or nothing when the text ends before.
std::optional<std::size_t> column_start(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t column = 0; at < text.size(); ++column) {
    if (column == width) return at;
    at += std::max<std::size_t>(decode(text.substr(at)).length, 1);
  }
  return std::nullopt;
}

std::string_view sequence(Paint paint) {
  switch (paint) {
    case Paint::Good:
      return "\x1b[32m";
    case Paint::Bad:
      return "\x1b[31m";
    case Paint::Doubtful:
      return "\x1b[33m";
    case Paint::Faint:
      return "\x1b[2m";
    case Paint::Strong:
      return "\x1b[1m";
  }
  return "";
}

bool speaks_utf8(const Environment& environment) {
  const std::string locale = environment.locale.value_or("");
  return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

}  // namespace

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

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    at += std::max<std::size_t>(decode(text.substr(at)).length, 1);
  }
  return count;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (!column_start(text, width)) return std::string(text);
  if (width < 4) return std::string(text.substr(0, *column_start(text, width)));
  return std::string(text.substr(0, *column_start(text, width - 3))) + "...";
}

std::string fitted(std::string_view text, std::size_t width) {
  std::string out = shortened(text, width);
  out.append(width - std::min(width, columns(out)), ' ');
  return out;
}

Terminal Terminal::on(int descriptor, ColorMode mode, const Environment& environment) {
  const bool tty = isatty(descriptor) == 1;
  const bool dumb = environment.term.value_or("dumb") == "dumb";
  Traits traits{.colour = mode == ColorMode::Always ||
                          (mode == ColorMode::Auto && tty && !dumb && !environment.no_color),
                .signs = tty && speaks_utf8(environment)};
  winsize size{};
  if (tty && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
    traits.width = size.ws_col;
  }
  return Terminal(traits);
}

std::string Terminal::paint(Paint paint, std::string_view text) const {
  if (!traits_.colour) return std::string(text);
  return fmt::format("{}{}\x1b[0m", sequence(paint), text);
}

std::string Terminal::mark(bool good) const {
  if (traits_.signs) return paint(good ? Paint::Good : Paint::Bad, good ? "✓" : "✗");
  return paint(good ? Paint::Good : Paint::Bad, good ? "ok    " : "FAILED");
}

}  // namespace sallyport::app
