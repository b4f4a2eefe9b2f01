#include "net/line_writer.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace sallyport::net {

namespace asio = boost::asio;

namespace {

// Removes the timer when the wait ends, so that no destroyed timer is notified.
class Registered {
 public:
  Registered(std::list<asio::steady_timer*>& all, asio::steady_timer& timer)
      : all_(all), place_(all.insert(all.end(), &timer)) {}
  Registered(const Registered&) = delete;
  ~Registered() { all_.erase(place_); }

 private:
  std::list<asio::steady_timer*>& all_;
  std::list<asio::steady_timer*>::iterator place_;
};

}  // namespace

LineWriter::LineWriter(asio::posix::stream_descriptor& to, std::size_t bound)
    : to_(to), bound_(bound), more_(to.get_executor()) {
  more_.expires_at(asio::steady_timer::time_point::max());
}

bool LineWriter::push(std::string line) {
  if (broken_ || closed_) return false;
  // A message may contain line ends between its parts, either because it came over HTTP or because
  // its sender wants a part of it to be read as a message of its own.
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  line += '\n';
  if (lines_.empty() && write_now(line)) return !broken_;
  if (!lines_.empty() && bytes_ + line.size() > bound_) return false;
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  more_.cancel();
  return true;
}

// True: the line was written completely, or never will be.
bool LineWriter::write_now(std::string& line) {
  const ssize_t written = ::write(to_.native_handle(), line.data(), line.size());
  if (written < 0) {
    broken_ = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
    return broken_;
  }
  if (static_cast<std::size_t>(written) == line.size()) return true;
  line.erase(0, static_cast<std::size_t>(written));
  return false;
}

Async<void> LineWriter::run() {
  boost::system::error_code ignored;
  while (!broken_) {
    if (lines_.empty()) {
      if (closed_) break;
      co_await more_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    const auto [error, written] = co_await asio::async_write(to_, asio::buffer(lines_.front()),
                                                             asio::as_tuple(asio::use_awaitable));
    bytes_ -= lines_.front().size();
    lines_.pop_front();
    broken_ = static_cast<bool>(error);
    notify_waiting();
  }
  lines_.clear();
  bytes_ = 0;
  notify_waiting();
}

void LineWriter::notify_waiting() {
  for (asio::steady_timer* const waiter : waiters_) waiter->cancel();
}

Async<void> LineWriter::until(std::size_t bytes, std::chrono::milliseconds longest) {
  asio::steady_timer timer(to_.get_executor(), longest);
  const auto end = timer.expiry();
  boost::system::error_code ignored;
  while (!broken_ && bytes_ > bytes && std::chrono::steady_clock::now() < end) {
    const Registered registered(waiters_, timer);
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

Async<void> LineWriter::room(std::chrono::milliseconds longest) {
  return until(bound_ / 2, longest);
}

Async<bool> LineWriter::flush(std::chrono::milliseconds longest) {
  co_await until(0, longest);
  co_return bytes_ == 0;
}

void LineWriter::close() {
  closed_ = true;
  more_.cancel();
}

}  // namespace sallyport::net
