#include "proxy/client_stream.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/encoding.h"
#include "net/line_end.h"

namespace sallyport::proxy {

namespace {

namespace asio = boost::asio;

// One `event` and one `data` line. JSON has line ends only as white space (MP-14).
void append_event(std::string& out, std::string_view name, std::string_view data) {
  if (!name.empty()) out.append("event: ").append(name).append("\n");
  out += "data: ";
  const std::size_t begin = out.size();
  out += data;
  for (std::size_t at = net::line_end(out, begin); at != std::string::npos;
       at = net::line_end(out, at)) {
    out[at] = ' ';
  }
  out += "\n\n";
}

Async<void> sleep(asio::steady_timer& timer, std::chrono::steady_clock::duration longest) {
  timer.expires_after(longest);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace

ClientStream::ClientStream(net::ServerExchange& client, asio::any_io_executor executor,
                           net::ServerResponse head, std::function<void()> keep_alive,
                           std::chrono::steady_clock::duration quiet)
    : client_(client),
      head_(std::move(head)),
      keep_alive_(std::move(keep_alive)),
      quiet_(quiet),
      wake_(executor),
      written_(executor),
      writer_(executor, [](std::string_view) {}) {
  writer_.start(write_all());
}

void ClientStream::event(std::string_view name, std::string_view data) {
  if (has_last()) return;  // nothing leaves behind the end
  if (waiting_.empty()) {
    wake_.cancel();  // else the writer is awake
    waiting_.reserve(usual_);
  }
  append_event(waiting_, name, data);
}

void ClientStream::last(std::string_view name, std::string_view data) {
  if (has_last()) return;
  append_event(last_, name, data);
}

std::string ClientStream::digest() const {
  RunningDigest copy = digest_;
  return bytes_ == 0 ? std::string() : "sha256:" + hex(copy.finish());
}

Async<void> ClientStream::write(std::string piece) {
  if (!reads_) co_return;
  if (!begun_) {
    begun_ = true;
    first_byte_ = std::chrono::steady_clock::now();
    reads_ = co_await client_.begin(head_);
    if (!reads_) co_return;
  }
  bytes_ += piece.size();
  digest_.add(piece);
  reads_ = co_await client_.write(std::move(piece));
}

Async<void> ClientStream::write_all() {
  while (true) {
    if (!waiting_.empty()) {
      usual_ = std::min(waiting_.size(), kMostWaiting);
      co_await write(std::exchange(waiting_, {}));
      written_.cancel();
      continue;
    }
    if (ending_) break;
    const auto before = std::chrono::steady_clock::now();
    co_await sleep(wake_, quiet_);
    const bool quiet = std::chrono::steady_clock::now() - before >= quiet_;
    if (!quiet || !waiting_.empty() || ending_) continue;
    if (begun_) keep_alive_();
    // Before the first event of the provider, send a comment: no API has an event for that.
    if (waiting_.empty()) waiting_ = ":\n\n";
  }
  ending_ = true;
  written_.cancel();
}

Async<void> ClientStream::make_room() {
  while (waiting_.size() > kMostWaiting && reads_) {
    co_await sleep(written_, std::chrono::seconds(1));
  }
}

Async<void> ClientStream::drain() {
  ending_ = true;
  while (writer_.size() > 0) {
    wake_.cancel();
    co_await writer_.join(std::chrono::milliseconds(100));
  }
}

Async<void> ClientStream::send_last() {
  co_await write(std::exchange(last_, {}));
}

}  // namespace sallyport::proxy
