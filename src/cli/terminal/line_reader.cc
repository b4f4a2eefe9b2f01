#include "cli/terminal/line_reader.h"

#include <termios.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestLine = 64 * 1024;

}  // namespace

LineReader::LineReader(boost::asio::io_context& loop) : input_(loop) {
  boost::system::error_code error;
  const int copy = dup(STDIN_FILENO);
  if (copy >= 0) input_.assign(copy, error);
  ended_ = copy < 0 || error.failed();
}

Async<std::optional<std::string>> LineReader::line() {
  if (ended_) co_return std::nullopt;
  boost::system::error_code error;
  const std::size_t size = co_await boost::asio::async_read_until(
      input_, boost::asio::dynamic_buffer(buffer_, kLongestLine), '\n',
      boost::asio::redirect_error(boost::asio::use_awaitable, error));
  if (error == boost::asio::error::operation_aborted) {
    buffer_.clear();
    co_return std::nullopt;
  }
  if (error) {
    ended_ = true;
    if (buffer_.empty()) co_return std::nullopt;
    co_return std::exchange(buffer_, {});
  }
  std::string line = buffer_.substr(0, size - 1);
  buffer_.erase(0, size);
  if (line.ends_with('\r')) line.pop_back();
  co_return line;
}

void LineReader::drop_typed() {
  tcflush(STDIN_FILENO, TCIFLUSH);
  buffer_.clear();
}

void LineReader::stop() {
  boost::system::error_code ignored;
  input_.cancel(ignored);
}

}  // namespace sallyport::app
