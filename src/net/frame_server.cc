#include "net/frame_server.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/try.h"

namespace sallyport::net {

namespace asio = boost::asio;
using asio::local::stream_protocol;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kFramePiece = 1u << 16;

}  // namespace

struct FrameServer::Acceptor {
  explicit Acceptor(const asio::any_io_executor& executor) : socket(executor) {}
  stream_protocol::acceptor socket;
};

class FrameServer::Connection {
 public:
  Connection(const Settings& settings, stream_protocol::socket socket, Peer peer,
             Quota::Share place)
      : settings_(settings),
        peer_(peer),
        place_(std::move(place)),
        socket_(std::make_shared<stream_protocol::socket>(std::move(socket))),
        timer_(socket_->get_executor()) {}

  Async<void> serve(Answer answer) {
    end_after(settings_.read);
    if (!co_await write(settings_.greeting)) co_return;
    std::optional<std::string> question = co_await read();
    timer_.cancel();
    if (!question) co_return;
    const std::optional<Response> response = co_await answer(peer_, std::move(*question));
    if (!response) co_return;
    end_after(settings_.write);
    const bool written = co_await write(response->frame);
    timer_.cancel();
    if (!written || !response->then) co_return;
    boost::system::error_code error;
    const int descriptor = socket_->release(error);
    if (!error) co_await response->then(descriptor);
  }

 private:
  void end_after(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([socket = socket_](const boost::system::error_code& error) {
      boost::system::error_code ignored;
      if (!error) socket->close(ignored);
    });
  }

  Async<bool> write(const std::string& content) {
    const std::string head = frame_head(content.size());
    const std::array<asio::const_buffer, 2> frame = {asio::buffer(head), asio::buffer(content)};
    const auto [error, size] = co_await asio::async_write(*socket_, frame, kAwait);
    co_return !error;
  }

  Async<std::optional<std::string>> read() {
    std::string head(kFrameHead, '\0');
    if (const auto [error, got] = co_await asio::async_read(*socket_, asio::buffer(head), kAwait);
        error) {
      co_return std::nullopt;
    }
    const std::size_t size = framed_size(head);
    if (size > settings_.question_bytes) co_return std::nullopt;
    std::string content;
    // Memory grows with the received bytes, not with the announced size.
    while (content.size() < size) {
      const std::size_t before = content.size();
      content.resize(std::min(size, before + kFramePiece));
      const auto [error, got] = co_await asio::async_read(
          *socket_, asio::buffer(content.data() + before, content.size() - before), kAwait);
      if (error) co_return std::nullopt;
    }
    co_return content;
  }

  const Settings& settings_;
  const Peer peer_;
  const Quota::Share place_;
  // Shared with the timer's handler, which may be queued when this ends.
  std::shared_ptr<stream_protocol::socket> socket_;
  asio::steady_timer timer_;
};

FrameServer::FrameServer(asio::any_io_executor executor, Settings settings, Log log)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      places_({.all = settings_.connections, .each = settings_.connections_each}),
      tasks_(executor_, std::move(log)) {}

FrameServer::~FrameServer() = default;

Result<void> FrameServer::listen(const std::filesystem::path& folder, const std::string& name) {
  SALLYPORT_TRY(UnixName taken, UnixName::listen(folder, name, settings_.reach));
  acceptor_ = std::make_unique<Acceptor>(executor_);
  boost::system::error_code error;
  const int listening = taken.release();
  acceptor_->socket.assign(stream_protocol(), listening, error);
  if (error) {
    ::close(listening);
    return fail(ErrorCode::Unavailable, "cannot listen: " + error.message(), folder.string());
  }
  name_.emplace(std::move(taken));
  return {};
}

Async<void> FrameServer::run(Answer answer, std::chrono::milliseconds patience) {
  if (!acceptor_) co_return;
  co_await accept(std::move(answer));
  if (!co_await tasks_.join(patience)) {
    tasks_.cancel();
    (void)co_await tasks_.join(std::chrono::seconds(1));
  }
}

Async<void> FrameServer::accept(Answer answer) {
  while (!stopping_) {
    stream_protocol::socket socket(executor_);
    const auto [error] = co_await acceptor_->socket.async_accept(socket, kAwait);
    if (stopping_ || error == asio::error::operation_aborted) break;
    if (error) {
      // Usually no descriptors are left; some will be free soon.
      asio::steady_timer pause(executor_, std::chrono::milliseconds(100));
      co_await pause.async_wait(kAwait);
      continue;
    }
    const Result<Peer> peer = peer_of(socket.native_handle());
    if (!peer || (settings_.reach == Reach::Private && peer->uid != ::geteuid())) continue;
    Quota::Share place = places_.share_of(std::to_string(peer->uid));
    if (!place.grow_to(1)) continue;
    // Programs that this process starts must not inherit it.
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    const auto serve = [](std::unique_ptr<Connection> connection, Answer with) -> Async<void> {
      co_await connection->serve(std::move(with));
    };
    tasks_.start(
        serve(std::make_unique<Connection>(settings_, std::move(socket), *peer, std::move(place)),
              answer));
  }
  boost::system::error_code ignored;
  acceptor_->socket.close(ignored);
}

void FrameServer::stop() {
  stopping_ = true;
  boost::system::error_code ignored;
  if (acceptor_) acceptor_->socket.cancel(ignored);
  // New clients find no socket from here on.
  name_.reset();
}

}  // namespace sallyport::net
