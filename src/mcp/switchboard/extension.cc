#include "mcp/switchboard/extension.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/switchboard/switchboard.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

Extension::Extension(Switchboard& board, std::size_t party, asio::any_io_executor executor,
                     std::size_t bound)
    : board_(board), party_(party), bound_(bound), more_(executor), closed_(executor) {
  more_.expires_at(asio::steady_timer::time_point::max());
  closed_.expires_at(asio::steady_timer::time_point::max());
}

bool Extension::put(net::Line line) {
  if (ended_ || waiting_.size() >= bound_) return false;
  waiting_.push_back(std::move(line));
  more_.cancel();
  return true;
}

void Extension::finish() {
  ended_ = true;
  more_.cancel();
}

Async<std::optional<net::Line>> Extension::next() {
  boost::system::error_code ignored;
  while (waiting_.empty() && !ended_) {
    co_await more_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (waiting_.empty()) co_return std::nullopt;
  net::Line line = std::move(waiting_.front());
  waiting_.pop_front();
  co_return line;
}

void Extension::hang_up() {
  waiting_.clear();
  finish();
}

Async<void> Extension::run() {
  boost::system::error_code ignored;
  while (!is_closed_) {
    co_await closed_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

bool Extension::send(std::string text, std::string_view about) {
  return board_.on_server_message(party_, std::move(text), about);
}

Async<void> Extension::room(std::chrono::milliseconds longest) {
  return board_.client_->room(longest);
}

Async<void> Extension::flush(std::chrono::milliseconds longest) {
  return board_.client_->flush(longest);
}

void Extension::close() {
  is_closed_ = true;
  closed_.cancel();
}

bool Extension::broken() const {
  return board_.client_->broken();
}

std::string Extension::contradiction(std::string_view about, const json::value& schema,
                                     const json::value& input) const {
  return board_.client_->contradiction(about, schema, input);
}

}  // namespace sallyport::mcp
