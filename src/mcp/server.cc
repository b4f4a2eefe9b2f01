#include "mcp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "base/cut_text.h"
#include "base/try.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kLongestErrorLine = 64 * 1024;
constexpr std::size_t kRememberedAbandoned = 4096;
constexpr std::uint64_t kComplaints = 20;

std::optional<std::uint64_t> number_of(std::string_view id) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(id.data(), id.data() + id.size(), number);
  if (read.ec != std::errc() || read.ptr != id.data() + id.size()) return std::nullopt;
  return number;
}

Reply failed(std::string how) {
  return {.error = {ErrorCode::Unavailable, std::move(how), {}, {}}};
}

}  // namespace

Server::Connection::Connection(std::unique_ptr<net::ChildProcess> child, const Limits& limits)
    : process(std::move(child)),
      reader(process->output(), limits.frame_bytes),
      error_reader(process->errors(), kLongestErrorLine),
      writer(process->input(), limits.queue_bytes) {}

Server::Server(asio::any_io_executor executor, std::vector<std::string> command, Limits limits,
               Listener& listener, Log log, Log server_log)
    : executor_(executor),
      command_(std::move(command)),
      limits_(limits),
      listener_(listener),
      log_(std::move(log)),
      server_log_(std::move(server_log)),
      pause_(executor) {}

Task<void> Server::run() {
  unsigned failures = 0;
  bool again = false;
  while (!stopping_) {
    auto child = net::ChildProcess::start(executor_, command_);
    const auto begin = std::chrono::steady_clock::now();
    std::string how;
    if (child) {
      connection_ = std::make_unique<Connection>(std::move(*child), limits_);
      listener_.server_started(std::exchange(again, true));
      net::TaskGroup beside(executor_, log_);
      beside.start(connection_->writer.run());
      beside.start(copy_errors());
      co_await serve();
      const net::ExitStatus exit = co_await connection_->process->stop(limits_.patience);
      how = fmt::format("the server ended ({})", exit.text());
      connection_->writer.close();
      if (!co_await beside.join(limits_.patience)) {
        beside.cancel();
        co_await beside.join(limits_.patience);
      }
      connection_.reset();
    } else {
      how = child.error().message;
    }
    listener_.server_ended(how);
    co_await fail_pending(how);
    if (stopping_) break;
    // One that works and sometimes falls is no one that only falls.
    const bool lasted = std::chrono::steady_clock::now() - begin > limits_.steady;
    if (std::exchange(useful_, false) || lasted) failures = 0;
    is_ready_ = false;
    ++failures;
    if (!was_ready_ && (!child || failures >= limits_.failed_starts)) {
      co_return fail(ErrorCode::Unavailable, how);
    }
    const auto wait = std::min(limits_.first_backoff * (1u << std::min(failures - 1, 16u)),
                               limits_.longest_backoff);
    log_(fmt::format("{}; it is started again in {} ms", how, wait.count()));
    co_await pause(wait);
  }
  co_return Result<void>{};
}

Async<void> Server::pause(std::chrono::milliseconds longest) {
  pause_.expires_after(longest);
  boost::system::error_code ignored;
  co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Async<void> Server::stop() {
  stopping_ = true;
  pause_.cancel();
  if (!connection_) co_return;
  (void)co_await connection_->writer.flush(limits_.patience);
  // The reader notices, and `run` does the rest.
  boost::system::error_code ignored;
  connection_->process->input().close(ignored);
  connection_->process->output().cancel(ignored);
}

Async<void> Server::serve() {
  while (!stopping_) {
    std::optional<net::Line> line = co_await connection_->reader.next();
    if (!line) co_return;
    co_await hear(std::move(*line));
  }
}

Async<void> Server::hear(net::Line line) {
  if (line.too_long) {
    std::string id = id_in_wreck(line.text, line.tail);
    co_await hear_wreck(std::move(line.text), std::move(id),
                        fmt::format("a message over {} bytes", limits_.frame_bytes));
    co_return;
  }
  Result<Message> message = Message::read(line.text, limits_.json());
  if (!message && !line.complete) {
    // Half an answer is none: whoever waits for it hears that the server has ended.
    complain("half a message", line.text);
    co_return;
  }
  if (!message) {
    std::string id = id_in_wreck(line.text, line.text);
    co_await hear_wreck(std::move(line.text), std::move(id), message.error().message);
    co_return;
  }
  switch (message->kind) {
    case Message::Kind::Request:
      co_return co_await listener_.server_asks(std::move(*message));
    case Message::Kind::Notification:
      co_return co_await listener_.server_tells(std::move(*message));
    case Message::Kind::Response:
      co_return co_await hear_answer(std::move(*message));
  }
}

Async<void> Server::hear_answer(Message answer) {
  const std::optional<std::uint64_t> id = number_of(answer.id);
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end()) {
    const bool late = id && std::ranges::find(abandoned_, *id) != abandoned_.end();
    if (!late) complain("an answer that nobody waits for", answer.id);
    co_return;
  }
  useful_ = useful_ || is_ready_;
  const std::shared_ptr<Waiter> waiter = std::move(found->second);
  pending_.erase(found);
  Reply reply{.message = std::move(answer)};
  co_await waiter->answered(std::move(reply));
}

Async<void> Server::hear_wreck(std::string bytes, std::string id, std::string_view why) {
  const std::optional<std::uint64_t> number = number_of(id);
  const auto found = number ? pending_.find(*number) : pending_.end();
  if (found == pending_.end()) {
    complain(fmt::format("something that is no message ({})", why), bytes);
    co_return;
  }
  const std::shared_ptr<Waiter> waiter = std::move(found->second);
  pending_.erase(found);
  Reply reply{.malformed = std::move(bytes)};
  co_await waiter->answered(std::move(reply));
}

// A server that floods gets a few lines of ours, not one for each of its own.
void Server::complain(std::string_view what, std::string_view about) {
  ++complaints_;
  if (complaints_ > kComplaints) return;
  log_(fmt::format("the server sent {}: `{}`", what, readable(cut_utf8_bytes(about, 200))));
  if (complaints_ == kComplaints) log_("more of that kind is not reported");
}

Async<void> Server::copy_errors() {
  net::LineReader& reader = connection_->error_reader;
  while (std::optional<net::Line> line = co_await reader.next()) {
    server_log_(line->too_long ? line->text + " [...]" : line->text);
  }
}

Async<void> Server::fail_pending(std::string how) {
  while (!pending_.empty()) {
    const std::shared_ptr<Waiter> waiter = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    Reply reply = failed(how);
    co_await waiter->answered(std::move(reply));
  }
}

Result<std::uint64_t> Server::request(const Compose& compose, std::shared_ptr<Waiter> waiter) {
  if (!connection_) return fail(ErrorCode::Unavailable, "the server is not running");
  if (pending_.size() >= limits_.requests) {
    return fail(ErrorCode::Exhausted, "too many requests wait for the server");
  }
  const std::uint64_t id = ++last_id_;
  if (!connection_->writer.push(compose(std::to_string(id)))) {
    return fail(ErrorCode::Unavailable, "the server does not read what it is sent");
  }
  pending_.emplace(id, std::move(waiter));
  return id;
}

void Server::abandon(std::uint64_t id, std::string_view reason, bool quietly) {
  if (pending_.erase(id) == 0) return;
  abandoned_.push_back(id);
  if (abandoned_.size() > kRememberedAbandoned) abandoned_.pop_front();
  if (quietly) return;
  std::string params = fmt::format("{{\"requestId\":{}", id);
  if (!reason.empty()) params += fmt::format(",\"reason\":{}", reason);
  send(notification_text("notifications/cancelled", params + '}'));
}

bool Server::send(std::string text) {
  return connection_ && connection_->writer.push(std::move(text));
}

namespace {

class Wait final : public Waiter {
 public:
  explicit Wait(const asio::any_io_executor& executor) : bell(executor) {}
  Async<void> answered(Reply given) override {
    reply = std::move(given);
    bell.cancel();
    co_return;
  }
  asio::steady_timer bell;
  std::optional<Reply> reply;
};

}  // namespace

Task<Message> Server::ask(std::string method, std::string params,
                          std::chrono::milliseconds longest) {
  // Shared: an answer may be on its way when the wait has just ended.
  const auto wait = std::make_shared<Wait>(executor_);
  wait->bell.expires_after(longest);
  const auto compose = [&](std::string_view id) { return request_text(id, method, params); };
  SALLYPORT_CO_TRY(const std::uint64_t id, request(compose, wait));
  boost::system::error_code ignored;
  co_await wait->bell.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  if (!wait->reply) {
    abandon(id, "\"timed out\"");
    co_return fail(ErrorCode::Deadline, fmt::format("no answer to `{}`", method));
  }
  if (wait->reply->message) co_return std::move(*wait->reply->message);
  if (wait->reply->malformed) {
    co_return fail(ErrorCode::Corrupt, fmt::format("the answer to `{}` is malformed", method));
  }
  co_return std::unexpected(wait->reply->error);
}

}  // namespace sallyport::mcp
