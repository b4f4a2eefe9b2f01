#include "mcp/inbox.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::mcp {

namespace asio = boost::asio;

Async<Inbox::Item> Inbox::take() {
  boost::system::error_code ignored;
  while (items_.empty()) {
    co_await bell_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  co_return item;
}

Async<void> Inbox::answered(Reply reply) {
  replied_ = true;
  items_.push_back(std::move(reply));
  bell_.cancel();
  co_return;
}

void Inbox::hears_nothing() {
  if (replied_) return;
  replied_ = true;
  items_.push_back(failed("the call was given up on"));
  bell_.cancel();
}

void Inbox::put(Message on_the_way) {
  if (replied_) return;
  if (items_.size() >= bound_) items_.pop_front();
  items_.push_back(std::move(on_the_way));
  bell_.cancel();
}

}  // namespace sallyport::mcp
