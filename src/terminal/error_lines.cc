#include "terminal/error_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

namespace sallyport::app {

namespace {

constexpr std::size_t kMostLines = 4096;

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

ErrorLines::ErrorLines(LogForm form) : state_(std::make_shared<State>(form)) {
  std::thread([state = state_] { write_lines(state); }).detach();
}

ErrorLines::~ErrorLines() {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  state.closed = true;
  state.more.notify_all();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while ((!state.lines.empty() || state.busy) && state.written.wait_until(state.mutex, end)) {
  }
}

void ErrorLines::print(std::string_view message) {
  State& state = *state_;
  std::string line = log_line(state.form, SystemClock().wall(), message) + '\n';
  const MutexLock lock(state.mutex);
  if (state.lines.size() >= kMostLines) {
    ++state.dropped;
    return;
  }
  state.lines.push_back(std::move(line));
  state.more.notify_one();
}

// The next line, with a note about lines that were dropped before it. No value: it is closed.
std::optional<std::string> ErrorLines::next(State& state) {
  const MutexLock lock(state.mutex);
  state.busy = false;
  state.written.notify_all();
  while (!state.closed && state.lines.empty()) state.more.wait(state.mutex);
  if (state.lines.empty()) return std::nullopt;
  std::string text = std::move(state.lines.front());
  state.lines.pop_front();
  if (state.lines.empty() && state.dropped > 0) {
    text += log_line(state.form, SystemClock().wall(),
                     fmt::format("{} lines were dropped here", std::exchange(state.dropped, 0))) +
            '\n';
  }
  state.busy = true;
  return text;
}

void ErrorLines::write_lines(const std::shared_ptr<State>& state) {
  while (const std::optional<std::string> text = next(*state)) write_all(*text);
}

}  // namespace sallyport::app
