#include "daemon/config_watch.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::app {

ConfigWatch::ConfigWatch(std::filesystem::path file, Changed changed)
    : file_(std::move(file)), changed_(std::move(changed)) {
  known();
}

void ConfigWatch::known() {
  rest_.know(FileRest::of({file_}));
}

Async<void> ConfigWatch::run() {
  timer_.emplace(co_await boost::asio::this_coro::executor);
  while (!stopped_) {
    timer_->expires_after(FileRest::kBetweenLooks);
    co_await timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (stopped_) co_return;
    if (rest_.changed(FileRest::of({file_}))) co_await changed_();
  }
}

void ConfigWatch::stop() {
  stopped_ = true;
  if (timer_) timer_->cancel();
}

}  // namespace sallyport::app
