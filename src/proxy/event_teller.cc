#include "proxy/event_teller.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::proxy {

void EventTeller::tell(Event event, Subject subject) {
  waiting_.emplace_back(std::move(event), std::move(subject));
  if (!std::exchange(writes_, true)) group_.start(write_all(shared_from_this()));
}

Async<void> EventTeller::write_all(std::shared_ptr<EventTeller> self) {
  while (!self->waiting_.empty()) {
    auto [event, subject] = std::move(self->waiting_.front());
    self->waiting_.pop_front();
    // What cannot be written is owed; an event that reports changes nothing.
    (void)co_await self->events_.emit(std::move(event), std::move(subject));
  }
  self->writes_ = false;
  self->idle_.cancel();
}

Async<void> EventTeller::wait() {
  while (writes_) {
    idle_.expires_after(std::chrono::seconds(1));
    boost::system::error_code ignored;
    co_await idle_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
}

}  // namespace sallyport::proxy
