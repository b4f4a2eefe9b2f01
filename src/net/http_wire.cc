#include "net/http_wire.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/err.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "base/race.h"
#include "base/try.h"

namespace sallyport::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

namespace {

std::unexpected<Error> broken(const boost::system::error_code& error, std::string what) {
  if (error == beast::error::timeout)
    return fail(ErrorCode::Deadline, what + ": no answer in time");
  if (error == asio::error::operation_aborted) return fail(ErrorCode::Cancelled, "cancelled");
  return fail(ErrorCode::Unavailable, fmt::format("{}: {}", what, error.message()));
}

using Found = std::optional<std::vector<tcp::endpoint>>;

Async<Found> look_up(std::string host, std::string port) {
  tcp::resolver resolver(co_await asio::this_coro::executor);
  const auto [error, results] =
      co_await resolver.async_resolve(host, port, asio::as_tuple(asio::use_awaitable));
  if (error) co_return std::nullopt;
  std::vector<tcp::endpoint> endpoints;
  for (const auto& result : results) endpoints.push_back(result.endpoint());
  co_return endpoints;
}

// Detects a peer that disappeared silently within a minute.
void keep_alive(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const auto set = [&](int option, int value) {
    setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, 30);
  set(TCP_KEEPINTVL, 10);
  set(TCP_KEEPCNT, 3);
}

class Connector {
 public:
  Connector(Url url, bool only_here) : url_(std::move(url)), only_here_(only_here) {}
  const Url& url() const { return url_; }

  // `closed`: it was abandoned meanwhile.
  Task<void> connect(beast::tcp_stream& stream, std::chrono::milliseconds longest,
                     const bool& closed) const {
    const std::string where = fmt::format("`{}` cannot be reached", url_.text());
    const auto deadline = std::chrono::steady_clock::now() + longest;
    const Raced<Found> found = co_await race(look_up(url_.host, url_.port), deadline, {});
    if (closed) co_return fail(ErrorCode::Cancelled, "cancelled");
    if (!found.value) co_return fail(ErrorCode::Deadline, where + ": no answer in time");
    if (!*found.value) {
      co_return fail(ErrorCode::Unavailable, fmt::format("{}: there is no such host", where));
    }
    std::vector<tcp::endpoint> endpoints = **found.value;
    if (only_here_) {
      std::erase_if(endpoints, [](const auto& at) { return !at.address().is_loopback(); });
    }
    if (endpoints.empty()) {
      co_return fail(ErrorCode::Unavailable, where + ": the name is not one of this machine");
    }
    stream.expires_at(deadline);
    const auto [error, used] =
        co_await stream.async_connect(endpoints, asio::as_tuple(asio::use_awaitable));
    if (error) co_return broken(error, where);
    keep_alive(stream.socket());
    co_return Result<void>{};
  }

 private:
  Url url_;
  bool only_here_;
};

beast::tcp_stream& bottom(beast::tcp_stream& stream) {
  return stream;
}
beast::tcp_stream& bottom(asio::ssl::stream<beast::tcp_stream>& stream) {
  return stream.next_layer();
}

template <class Stream>
class Wire : public HttpWire {
 public:
  template <class... More>
  explicit Wire(Connector connector, More&&... more)
      : connector_(std::move(connector)), stream_(std::forward<More>(more)...) {}

  Task<void> connect(std::chrono::milliseconds longest) override {
    return connector_.connect(bottom(stream_), longest, closed_);
  }

  Task<void> write(std::string_view bytes, std::chrono::milliseconds longest) override {
    bottom(stream_).expires_after(longest);
    const auto [error, written] = co_await asio::async_write(
        stream_, asio::buffer(bytes.data(), bytes.size()), asio::as_tuple(asio::use_awaitable));
    if (error) co_return broken(error, "the server does not take the request");
    co_return Result<void>{};
  }

  Task<std::size_t> read(char* to, std::size_t most, std::chrono::milliseconds longest) override {
    bottom(stream_).expires_after(longest);
    const auto [error, count] = co_await stream_.async_read_some(
        asio::buffer(to, most), asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::eof) co_return std::size_t{0};
    if (error) co_return broken(error, "the server went away");
    co_return count;
  }

  bool is_quiet() override {
    tcp::socket& socket = bottom(stream_).socket();
    char byte = 0;
    const ssize_t count = recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return socket.is_open() && count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  void close() override {
    closed_ = true;
    bottom(stream_).close();
  }

 protected:
  Connector connector_;
  Stream stream_;
  bool closed_ = false;
};

class TlsWire final : public Wire<asio::ssl::stream<beast::tcp_stream>> {
 public:
  using Wire::Wire;

  Task<void> connect(std::chrono::milliseconds longest) override {
    SALLYPORT_CO_CHECK_OK(co_await connector_.connect(stream_.next_layer(), longest, closed_));
    const Url& url = connector_.url();
    if (SSL_set_tlsext_host_name(stream_.native_handle(), url.host.c_str()) != 1) {
      co_return fail(ErrorCode::Internal, "the host cannot be named to the server");
    }
    boost::system::error_code error;
    stream_.set_verify_callback(asio::ssl::host_name_verification(url.host), error);
    if (error) co_return broken(error, "certificates cannot be checked");
    stream_.next_layer().expires_after(longest);
    const auto [failed] = co_await stream_.async_handshake(asio::ssl::stream_base::client,
                                                           asio::as_tuple(asio::use_awaitable));
    if (failed) {
      co_return broken(failed, fmt::format("no safe connection to `{}`", url.text()));
    }
    co_return Result<void>{};
  }
};

}  // namespace

std::unique_ptr<HttpWire> HttpWire::make(asio::any_io_executor executor, asio::ssl::context& tls,
                                         Url url, bool only_here) {
  const bool safe = url.tls;
  Connector connector(std::move(url), only_here);
  if (safe) {
    return std::make_unique<TlsWire>(std::move(connector), beast::tcp_stream(executor), tls);
  }
  return std::make_unique<Wire<beast::tcp_stream>>(std::move(connector), executor);
}

}  // namespace sallyport::net
