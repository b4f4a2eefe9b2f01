#include "proxy/event_queue.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::proxy {

void EventQueue::add(Event event, Subject subject) {
  waiting_.emplace_back(std::move(event), std::move(subject));
  if (!std::exchange(writes_, true)) group_.start(write_all(shared_from_this()));
}

Async<void> EventQueue::write_all(std::shared_ptr<EventQueue> self) {
  while (!self->waiting_.empty()) {
    auto [event, subject] = std::move(self->waiting_.front());
    self->waiting_.pop_front();
    // A failed write is owed to the ledger. An event that only reports changes nothing here.
    (void)co_await self->events_.emit(std::move(event), std::move(subject));
  }
  self->writes_ = false;
  self->idle_.cancel();
}

Async<void> EventQueue::wait() {
  while (writes_) {
    idle_.expires_after(std::chrono::seconds(1));
    boost::system::error_code ignored;
    co_await idle_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
}

}  // namespace sallyport::proxy
