#include "mcp/server/stdio_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/cut_text.h"
#include "base/try.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kLongestErrorLine = 64 * 1024;

}  // namespace

StdioServer::Connection::Connection(std::unique_ptr<net::ChildProcess> child, const Limits& limits)
    : process(std::move(child)),
      reader(process->output(), limits.frame_bytes),
      error_reader(process->errors(), kLongestErrorLine),
      writer(process->input(), limits.queue_bytes) {}

StdioServer::StdioServer(Parts parts, std::vector<std::string> command,
                         std::optional<net::RunAs> run_as)
    : parts_(std::move(parts)),
      limits_(parts_.limits),
      command_(std::move(command)),
      run_as_(std::move(run_as)),
      pending_(limits_.requests, parts_.log),
      pause_(parts_.executor) {}

ServerMaker StdioServer::maker(std::vector<std::string> command, std::optional<net::RunAs> run_as) {
  return [command = std::move(command), run_as = std::move(run_as)](Parts parts) {
    return std::make_unique<StdioServer>(std::move(parts), command, run_as);
  };
}

Task<void> StdioServer::run() {
  unsigned failures = 0;
  bool again = false;
  while (!stopping_) {
    auto child = net::ChildProcess::start(parts_.executor, command_, run_as_);
    const auto begin = std::chrono::steady_clock::now();
    std::string reason;
    if (child) {
      connection_ = std::make_unique<Connection>(std::move(*child), limits_);
      parts_.listener.server_started(std::exchange(again, true));
      net::TaskGroup beside(parts_.executor, parts_.log);
      beside.start(connection_->writer.run());
      beside.start(copy_errors());
      co_await serve();
      const net::ExitStatus exit = co_await connection_->process->stop(limits_.patience);
      reason = fmt::format("the server ended ({})", exit.text());
      connection_->writer.close();
      if (!co_await beside.join(limits_.patience)) {
        beside.cancel();
        co_await beside.join(limits_.patience);
      }
      connection_.reset();
    } else {
      reason = child.error().message;
    }
    parts_.listener.server_ended(reason);
    co_await pending_.fail_all(reason);
    if (stopping_) break;
    // A server that has worked does not count as one that never starts.
    const bool lasted = std::chrono::steady_clock::now() - begin > limits_.healthy_after;
    if (std::exchange(useful_, false) || lasted) failures = 0;
    is_ready_ = false;
    ++failures;
    if (!was_ready_ && (!child || failures >= limits_.failed_starts)) {
      co_return fail(ErrorCode::Unavailable, reason);
    }
    const auto wait = std::min(limits_.first_backoff * (1u << std::min(failures - 1, 16u)),
                               limits_.longest_backoff);
    parts_.log(fmt::format("{}; it is started again in {} ms", reason, wait.count()));
    co_await pause(wait);
  }
  co_return Result<void>{};
}

Async<void> StdioServer::pause(std::chrono::milliseconds longest) {
  pause_.expires_after(longest);
  boost::system::error_code ignored;
  co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Async<void> StdioServer::stop() {
  stopping_ = true;
  pause_.cancel();
  if (!connection_) co_return;
  (void)co_await connection_->writer.flush(limits_.patience);
  // The reader notices, and `run` does the rest.
  boost::system::error_code ignored;
  connection_->process->input().close(ignored);
  connection_->process->output().cancel(ignored);
}

Async<void> StdioServer::serve() {
  while (!stopping_) {
    std::optional<net::Line> line = co_await connection_->reader.next();
    if (!line) co_return;
    co_await on_line(std::move(*line));
  }
}

Async<void> StdioServer::on_line(net::Line line) {
  if (line.too_long) {
    std::string id = id_in_malformed(line.text, line.tail);
    co_await pending_.answer_malformed(std::move(line.text), std::move(id),
                                       fmt::format("a message over {} bytes", limits_.frame_bytes));
    co_return;
  }
  const std::vector<std::string> batch = batch_messages(line.text, limits_.json());
  if (batch.empty()) co_return co_await on_message(std::move(line));
  for (const std::string& text : batch) co_await on_message({.text = text});
}

Async<void> StdioServer::on_message(net::Line line) {
  Result<Message> message = Message::read(line.text, limits_.json());
  if (!message && !line.complete) {
    // An incomplete line is dropped; its caller gets the error that the server has ended.
    pending_.complain("half a message", line.text);
    co_return;
  }
  if (!message) {
    std::string id = id_in_malformed(line.text, line.text);
    co_await pending_.answer_malformed(std::move(line.text), std::move(id),
                                       message.error().message);
    co_return;
  }
  switch (message->kind) {
    case Message::Kind::Request:
      co_return co_await parts_.listener.on_server_request(std::move(*message));
    case Message::Kind::Notification:
      co_return co_await parts_.listener.on_server_notification(std::move(*message));
    case Message::Kind::Response:
      useful_ = (co_await pending_.answer(std::move(*message)) && is_ready_) || useful_;
  }
}

Async<void> StdioServer::copy_errors() {
  net::LineReader& reader = connection_->error_reader;
  while (std::optional<net::Line> line = co_await reader.next()) {
    // The reader cuts long lines anywhere, and half a word may be half a secret.
    parts_.server_log(line->too_long
                          ? cut_whole_words(line->text + "-", line->text.size()) + " [...]"
                          : line->text);
  }
}

Result<std::uint64_t> StdioServer::request(const Compose& compose, std::shared_ptr<Waiter> waiter) {
  if (!connection_) return fail(ErrorCode::Unavailable, "the server is not running");
  SALLYPORT_TRY(const std::uint64_t id, pending_.next_id());
  if (!connection_->writer.push(compose(std::to_string(id)))) {
    return fail(ErrorCode::Unavailable, "the server does not read what it is sent");
  }
  pending_.add(id, std::move(waiter));
  return id;
}

void StdioServer::abandon(std::uint64_t id, std::string_view reason) {
  if (pending_.abandon(id)) send(cancelled_text(id, reason));
}

bool StdioServer::send(std::string text) {
  return connection_ && connection_->writer.push(std::move(text));
}

}  // namespace sallyport::mcp
