#include "terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace sallyport::app {

namespace {

// The offset of column `width`. No value: the text ends before it.
std::optional<std::size_t> column_start(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t column = 0; at < text.size(); ++column) {
    if (column == width) return at;
    at += std::max<std::size_t>(decode_utf8(text.substr(at)).length, 1);
  }
  return std::nullopt;
}

std::string_view sequence(Paint paint) {
  constexpr auto kSequences =
      std::to_array<std::string_view>({"\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[2m", "\x1b[1m"});
  static_assert(kSequences.size() == static_cast<std::size_t>(Paint::Strong) + 1);
  return kSequences[static_cast<std::size_t>(paint)];
}

bool speaks_utf8(const Environment& environment) {
  const std::string locale = environment.locale.value_or("");
  return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    at += std::max<std::size_t>(decode_utf8(text.substr(at)).length, 1);
  }
  return count;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines;
  const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
  std::string line(text.substr(0, start));
  bool fresh = true;  // the line has no word yet
  for (std::size_t at = start; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!fresh && columns(line) + 1 + columns(word) > width) {
      lines.push_back(std::move(line));
      line = std::string(indent, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + std::string(word);
    fresh = false;
    at = end + 1;
  }
  lines.push_back(std::move(line));
  return lines;
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
