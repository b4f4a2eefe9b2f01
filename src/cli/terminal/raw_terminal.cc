#include "cli/terminal/raw_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

namespace sallyport::app {

namespace {

constexpr std::string_view kOtherScreen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kUsualScreen = "\x1b[?25h\x1b[?1049l";

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

struct Sequence {
  std::string_view bytes;
  std::string_view name;
};
constexpr auto kSequences = std::to_array<Sequence>({{"\x1b[A", "up"},
                                                     {"\x1b[B", "down"},
                                                     {"\x1bOA", "up"},
                                                     {"\x1bOB", "down"},
                                                     {"\x1b[5~", "back"},
                                                     {"\x1b[6~", "next"}});

}  // namespace

Result<RawTerminal> RawTerminal::open() {
  termios usual{};
  const bool both = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (!both || tcgetattr(STDIN_FILENO, &usual) != 0) {
    return fail(ErrorCode::Conflict, "there is no terminal here");
  }
  RawTerminal terminal(usual);
  terminal.enter();
  return terminal;
}

RawTerminal::RawTerminal(RawTerminal&& other) noexcept
    : usual_(other.usual_), entered_(std::exchange(other.entered_, false)) {}

RawTerminal::~RawTerminal() {
  leave();
}

void RawTerminal::enter() {
  if (entered_) return;
  termios raw = usual_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  put(kOtherScreen);
  entered_ = true;
}

void RawTerminal::leave() {
  if (!entered_) return;
  put(kUsualScreen);
  tcsetattr(STDIN_FILENO, TCSANOW, &usual_);
  entered_ = false;
}

RawTerminal::Size RawTerminal::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 5 || size.ws_col < 20) {
    return {};
  }
  return {size.ws_row, size.ws_col};
}

void RawTerminal::draw(const std::vector<std::string>& lines) {
  const std::size_t rows = size().rows;
  std::string screen = "\x1b[H";
  for (std::size_t row = 0; row < rows; ++row) {
    screen += "\x1b[2K";
    if (row < lines.size()) screen += lines[row];
    if (row + 1 < rows) screen += "\r\n";
  }
  put(screen);
}

std::optional<std::string> RawTerminal::key() {
  std::array<char, 16> bytes{};
  const ssize_t first = ::read(STDIN_FILENO, bytes.data(), 1);
  if (first <= 0) return std::nullopt;
  if (bytes[0] != '\x1b') return std::string(1, bytes[0]);
  // The rest of such a key comes at once, or it was the key itself.
  pollfd more{STDIN_FILENO, POLLIN, 0};
  std::size_t count = 1;
  while (count < 6 && poll(&more, 1, 20) > 0 &&
         ::read(STDIN_FILENO, bytes.data() + count, 1) == 1) {
    ++count;
    for (const Sequence& known : kSequences) {
      if (known.bytes == std::string_view(bytes.data(), count)) return std::string(known.name);
    }
  }
  return std::string();
}

}  // namespace sallyport::app
