#include "app/daemon/config_watch.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::app {

namespace {

constexpr std::chrono::milliseconds kBetweenConfigLooks{500};

}  // namespace

ConfigWatch::ConfigWatch(std::filesystem::path file, Changed changed)
    : file_(std::move(file)), changed_(std::move(changed)) {
  known();
}

void ConfigWatch::known() {
  known_ = seen_ = stamp();
}

// Nothing: the file is gone, perhaps for a moment while it is replaced.
std::optional<ConfigWatch::Stamp> ConfigWatch::stamp() const {
  std::error_code no_time;
  std::error_code no_size;
  Stamp stamp{std::filesystem::last_write_time(file_, no_time),
              std::filesystem::file_size(file_, no_size)};
  if (no_time || no_size) return std::nullopt;
  return stamp;
}

Async<void> ConfigWatch::run() {
  timer_.emplace(co_await boost::asio::this_coro::executor);
  while (!stopped_) {
    timer_->expires_after(kBetweenConfigLooks);
    co_await timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (stopped_) co_return;
    const std::optional<Stamp> now = stamp();
    const bool rests = now == std::exchange(seen_, now);
    if (now && rests && now != known_) co_await changed_();
  }
}

void ConfigWatch::stop() {
  stopped_ = true;
  if (timer_) timer_->cancel();
}

}  // namespace sallyport::app
