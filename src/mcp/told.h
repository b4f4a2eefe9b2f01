// Waits for what the client answers to a question of ours.
#pragma once

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>

#include "mcp/gateway.h"

namespace sallyport::mcp {

class Gateway::Told {
 public:
  explicit Told(const boost::asio::any_io_executor& executor) : bell_(executor) {}

  void hear(const Message& answer) {
    answer_ = answer;
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
