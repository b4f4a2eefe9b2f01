// The messages of a server about one request: progress and log messages, then one reply.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <variant>

#include "mcp/server/server.h"

namespace sallyport::mcp {

// Used on the strand of its server.
class Inbox final : public Waiter {
 public:
  // `bound`: the most queued messages; older ones are dropped for newer ones or for large ones.
  Inbox(const boost::asio::any_io_executor& executor, std::size_t bound)
      : bell_(executor), bound_(bound) {
    bell_.expires_at(boost::asio::steady_timer::time_point::max());
  }

  using Item = std::variant<Message, Response>;
  Async<Item> take();

  Async<void> answered(Response reply) override;
  bool wants_late_answer() const override { return true; }
  void no_answer_came() override;
  void put(Message interim);
  bool has_reply() const { return replied_; }
  // An empty one for the next request.
  std::shared_ptr<Inbox> fresh() { return std::make_shared<Inbox>(bell_.get_executor(), bound_); }

 private:
  boost::asio::steady_timer bell_;
  std::size_t bound_;
  std::deque<Item> items_;
  std::size_t weight_ = 0;  // of messages in it
  bool replied_ = false;
};

}  // namespace sallyport::mcp
