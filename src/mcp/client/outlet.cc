#include "mcp/client/outlet.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::mcp {

namespace asio = boost::asio;

Outlet::Outlet(const asio::any_io_executor& executor, std::uint64_t number, OutletLimits limits)
    : number_(number), limits_(limits), bell_(executor) {}

bool Outlet::put(std::string text, bool last) {
  if (closed_ || ended_) return false;
  if (!last && waits() && waiting_bytes_ + text.size() > limits_.waiting_bytes) return false;
  waiting_bytes_ += text.size();
  events_.push_back({++last_, std::move(text), last});
  ended_ = last;
  bell_.cancel();
  return true;
}

void Outlet::close() {
  closed_ = true;
  bell_.cancel();
}

void Outlet::wake() {
  woken_ = true;
  bell_.cancel();
}

std::uint64_t Outlet::take_over() {
  bell_.cancel();
  return ++reader_;
}

Async<std::optional<Outlet::Event>> Outlet::next(std::uint64_t reader,
                                                 std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  boost::system::error_code ignored;
  while (!waits() && !done() && !woken_ && is_read_by(reader) &&
         std::chrono::steady_clock::now() < end) {
    bell_.expires_at(end);
    co_await bell_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (!is_read_by(reader)) co_return std::nullopt;
  if (std::exchange(woken_, false) || !waits()) co_return std::nullopt;
  const auto found = std::ranges::find(events_, delivered_ + 1, &Event::number);
  Event event = *found;
  ++delivered_;
  waiting_bytes_ -= event.text.size();
  kept_bytes_ += event.text.size();
  forget();
  co_return event;
}

void Outlet::forget() {
  while (!events_.empty() && events_.front().number <= delivered_ &&
         (delivered_ - events_.front().number >= limits_.kept_events ||
          kept_bytes_ > limits_.kept_bytes)) {
    kept_bytes_ -= events_.front().text.size();
    events_.pop_front();
  }
}

void Outlet::rewind(std::uint64_t delivered) {
  const std::uint64_t oldest = events_.empty() ? last_ : events_.front().number - 1;
  delivered_ = std::clamp(delivered, oldest, last_);
  waiting_bytes_ = kept_bytes_ = 0;
  for (const Event& event : events_) {
    (event.number > delivered_ ? waiting_bytes_ : kept_bytes_) += event.text.size();
  }
}

}  // namespace sallyport::mcp
