// Waits for the client's answer to a question of ours.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>

#include "base/async.h"
#include "mcp/message/message.h"

namespace sallyport::mcp {

// Used on the strand of a gateway. The waiting coroutine and the reader of messages share it.
class AwaitedAnswer {
 public:
  explicit AwaitedAnswer(const boost::asio::any_io_executor& executor) : bell_(executor) {}

  void put(Message answer) {
    answer_ = std::move(answer);
    bell_.cancel();
  }

  void stop() {  // the answer is no longer needed
    stopped_ = true;
    bell_.cancel();
  }

  Async<std::optional<Message>> wait(std::chrono::milliseconds longest) {
    bell_.expires_after(longest);
    boost::system::error_code ignored;
    if (!answer_ && !stopped_) {
      co_await bell_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    co_return answer_;
  }

 private:
  boost::asio::steady_timer bell_;
  std::optional<Message> answer_;
  bool stopped_ = false;
};

}  // namespace sallyport::mcp
