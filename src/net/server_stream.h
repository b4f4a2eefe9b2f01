// The bytes of one peer of an HttpServer, with or without TLS: an AsyncReadStream and
// AsyncWriteStream of Asio. Without TLS it costs nothing more than the socket.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <utility>

namespace sallyport::net {

class ServerStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;

  // `tls`: null: without TLS. Used in the constructor only.
  ServerStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls)
      : bottom_(std::move(socket)) {
    if (tls != nullptr) tls_ = std::make_unique<Tls>(bottom_, *tls);
  }

  executor_type get_executor() { return bottom_.get_executor(); }
  // Deadlines and the socket itself.
  boost::beast::tcp_stream& bottom() { return bottom_; }
  bool has_tls() const { return tls_ != nullptr; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, Signature>(
        [this](auto handler, const Buffers& to) {
          if (tls_) {
            tls_->async_read_some(to, std::move(handler));
          } else {
            bottom_.async_read_some(to, std::move(handler));
          }
        },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, Signature>(
        [this](auto handler, const Buffers& from) {
          if (tls_) {
            tls_->async_write_some(from, std::move(handler));
          } else {
            bottom_.async_write_some(from, std::move(handler));
          }
        },
        token, buffers);
  }

  // Only with TLS.
  template <class Token>
  auto async_handshake(Token&& token) {
    return tls_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Token>(token));
  }
  template <class Token>
  auto async_shutdown(Token&& token) {
    return tls_->async_shutdown(std::forward<Token>(token));
  }

 private:
  using Signature = void(boost::system::error_code, std::size_t);
  using Tls = boost::asio::ssl::stream<boost::beast::tcp_stream&>;

  boost::beast::tcp_stream bottom_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace sallyport::net
