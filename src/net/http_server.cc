#include "net/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/http_connection.h"
#include "net/server_tls.h"

namespace sallyport::net {

namespace asio = boost::asio;
using asio::ip::tcp;

struct HttpServer::Acceptor {
  explicit Acceptor(asio::any_io_executor executor) : socket(executor) {}
  tcp::acceptor socket;
};

HttpServer::HttpServer(asio::any_io_executor executor, HttpLimits limits, Log log)
    : executor_(executor),
      limits_(limits),
      log_(std::move(log)),
      bodies_(limits.bodies),
      unread_(limits.unread),
      tasks_(executor, log_) {}

HttpServer::~HttpServer() = default;

void HttpServer::route(std::string path, HttpHandler& handler, RouteLimits limits) {
  routes_.insert_or_assign(std::move(path), Target{&handler, limits});
}

void HttpServer::serve_only(HttpNames names) {
  names_ = std::move(names);
}

void HttpServer::serve_tls(std::unique_ptr<ServerTls> tls) {
  tls_ = std::move(tls);
}

Result<std::uint16_t> HttpServer::listen(const std::string& address, std::uint16_t port) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` is not an address to listen on", address));
  }
  const tcp::endpoint endpoint(ip, port);
  auto acceptor = std::make_unique<Acceptor>(executor_);
  tcp::acceptor& socket = acceptor->socket;
  socket.open(endpoint.protocol(), error);
  if (!error) socket.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) socket.bind(endpoint, error);
  if (!error) socket.listen(tcp::acceptor::max_listen_connections, error);
  if (error) {
    return fail(ErrorCode::Unavailable,
                fmt::format("cannot listen on {}:{}: {}; {}", address, port, error.message(),
                            error == asio::error::address_in_use
                                ? "end the process that does, or name another port"
                                : "name another address or port"));
  }
  acceptor_ = std::move(acceptor);
  return acceptor_->socket.local_endpoint().port();
}

Async<void> HttpServer::run(std::chrono::milliseconds patience) {
  co_await accept();
  for (const auto& [number, connection] : connections_) connection->stop();
  if (!co_await tasks_.join(patience)) {
    tasks_.cancel();
    (void)co_await tasks_.join(std::chrono::seconds(5));
  }
}

Async<void> HttpServer::accept() {
  while (!stopping_) {
    tcp::socket socket(executor_);
    const auto [error] =
        co_await acceptor_->socket.async_accept(socket, asio::as_tuple(asio::use_awaitable));
    if (stopping_ || error == asio::error::operation_aborted) break;
    if (error) {
      // Usually no descriptors are left; closed idle connections free some.
      report_waiting_clients(error.message());
      (void)make_room();
      asio::steady_timer pause(executor_, std::chrono::milliseconds(100));
      boost::system::error_code ignored;
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    const bool full = connections_.size() >= limits_.connections && !make_room();
    const auto serve = [](std::unique_ptr<Connection> connection, bool away) -> Async<void> {
      if (away) {
        co_await connection->refuse_busy();
      } else {
        co_await connection->serve();
      }
    };
    // Beyond twice as many, connections are closed without a response.
    if (connections_.size() >= 2 * limits_.connections) continue;
    tasks_.start(serve(std::make_unique<Connection>(*this, std::move(socket)), full));
  }
  boost::system::error_code ignored;
  acceptor_->socket.close(ignored);
}

void HttpServer::report_waiting_clients(const std::string& why) {
  const auto now = std::chrono::steady_clock::now();
  if (reported_at_ && now - *reported_at_ < std::chrono::minutes(1)) return;
  reported_at_ = now;
  log_(fmt::format("new connections wait: {}; allow this process more open files (`ulimit -n`)",
                   why));
}

// Closes the oldest connection without an authenticated request, so silent clients block no one.
bool HttpServer::make_room() {
  return std::ranges::any_of(connections_, [](const auto& entry) { return entry.second->leave(); });
}

void HttpServer::stop() {
  stopping_ = true;
  boost::system::error_code ignored;
  if (acceptor_) acceptor_->socket.cancel(ignored);
}

const HttpServer::Route* HttpServer::route_of(const ServerRequest& request) const {
  if (const auto found = routes_.find(request.path); found != routes_.end()) return &*found;
  for (std::string below = request.path; !below.empty(); below.pop_back()) {
    if (below.back() != '/') continue;
    if (const auto found = routes_.find(below); found != routes_.end()) return &*found;
  }
  return nullptr;
}

}  // namespace sallyport::net
