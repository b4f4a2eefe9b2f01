#include "app/error_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/visible_text.h"

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

ErrorLines::ErrorLines() : state_(std::make_shared<State>()) {
  std::thread([state = state_] { write_lines(state); }).detach();
}

ErrorLines::~ErrorLines() {
  std::unique_lock lock(state_->mutex);
  state_->closed = true;
  state_->more.notify_all();
  state_->written.wait_for(lock, std::chrono::milliseconds(200),
                           [&] { return state_->lines.empty() && !state_->busy; });
}

void ErrorLines::say(std::string_view line) {
  const std::lock_guard lock(state_->mutex);
  if (state_->lines.size() >= kMostLines) {
    ++state_->dropped;
    return;
  }
  // Much of it was said by servers.
  state_->lines.push_back(visible(line) + '\n');
  state_->more.notify_one();
}

void ErrorLines::write_lines(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    state->more.wait(lock, [&] { return state->closed || !state->lines.empty(); });
    if (state->lines.empty()) return;
    std::string text = std::move(state->lines.front());
    state->lines.pop_front();
    if (state->lines.empty() && state->dropped > 0) {
      text +=
          fmt::format("sallyport: {} lines were dropped here\n", std::exchange(state->dropped, 0));
    }
    state->busy = true;
    lock.unlock();
    write_all(text);
    lock.lock();
    state->busy = false;
    state->written.notify_all();
  }
}

}  // namespace sallyport::app
