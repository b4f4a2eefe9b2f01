#include "mcp/server/inbox.h"

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
  if (const Message* const message = std::get_if<Message>(&item)) weight_ -= message->weight();
  co_return item;
}

Async<void> Inbox::answered(Response reply) {
  replied_ = true;
  items_.push_back(std::move(reply));
  bell_.cancel();
  co_return;
}

void Inbox::no_answer_came() {
  if (replied_) return;
  replied_ = true;
  items_.push_back(failed("the call was given up on"));
  bell_.cancel();
}

void Inbox::put(Message interim) {
  if (replied_) return;
  // The weight is limited too, because many large messages would take all memory.
  constexpr std::size_t kMostBytes = 16u << 20;
  weight_ += interim.weight();
  while (!items_.empty() && (items_.size() >= bound_ || weight_ > kMostBytes)) {
    weight_ -= std::get<Message>(items_.front()).weight();
    items_.pop_front();
  }
  items_.push_back(std::move(interim));
  bell_.cancel();
}

}  // namespace sallyport::mcp
