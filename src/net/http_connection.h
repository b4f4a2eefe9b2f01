// One peer of an HttpServer: its requests, one after the other.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/http_server.h"
#include "net/server_stream.h"

namespace sallyport::net {

// Owned by the task that serves it; the server knows it from its construction to its end.
class HttpServer::Connection final : public ServerExchange {
 public:
  Connection(HttpServer& server, boost::asio::ip::tcp::socket socket);
  ~Connection() override;

  Async<void> serve();
  // Answers that there is no room for the connection.
  Async<void> refuse_busy();
  // Ends the connection if it is idle, else after the current request.
  void stop();
  // Closes it to make room for others. False: it stays; its request is authenticated.
  bool leave();

  const ServerRequest& request() const override { return request_; }
  void on_gone(std::function<void()> callback) override { on_gone_ = std::move(callback); }
  bool gone() const override { return gone_; }
  bool streaming() const override { return streams_; }
  bool can_stream() const override { return !plain_; }
  Async<bool> respond(ServerResponse response) override;
  Async<bool> begin(ServerResponse head) override;
  Async<bool> write(std::string piece) override;

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Refusal = std::optional<ServerResponse>;

  Async<bool> handshake();    // the handshake of TLS; false: there is none
  Async<bool> one_request();  // true: another one may follow
  void forget_last_request();
  Async<bool> first_bytes();  // false: none came
  Async<Refusal> read_request();
  Async<bool> has_folded_header();
  Async<Refusal> read_head(Parser& parser);
  Async<Refusal> judge_head();
  Async<Refusal> refuse_head();
  Async<Refusal> read_body(Parser& parser);
  ServerResponse refused(const boost::system::error_code& error);
  bool hold(std::size_t bytes);
  Quota::Share give_time_for(std::size_t bytes);
  std::chrono::milliseconds write_limit() const;
  Async<void> run_handler();
  Async<void> watch();
  void watch_later();
  void set_gone();
  void count(unsigned status) const;
  Async<void> end_stream();
  Async<void> linger();
  Async<void> send_close_notice();
  void close();

  static constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

  HttpServer& server_;
  ServerStream stream_;
  // Bounded, because the parser needs chunk extensions and trailers as a whole and does not count
  // them.
  boost::beast::flat_buffer buffer_;
  std::uint64_t number_;
  TaskGroup watching_;
  boost::asio::steady_timer first_look_;
  // Handlers of that timer may outlive the connection.
  std::shared_ptr<Connection* const> self_ = std::make_shared<Connection* const>(this);
  bool handling_ = false;
  std::string peer_;  // its address; empty: unknown
  bool keep_alive_ = true;
  bool plain_ = false;  // HTTP/1.0, which has no streams
  bool idle_ = false;
  bool left_ = false;
  bool sent_close_notice_ = false;
  bool gone_ = false;

  // State of the current request.
  ServerRequest request_{};
  Quota::Share body_;
  const Route* route_ = nullptr;
  std::function<void()> on_gone_{};
  bool unknown_ = true;  // its first request has not been authenticated yet
  bool answered_ = false;
  bool streams_ = false;
};

}  // namespace sallyport::net
