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
  // Tells the peer that there is no room for it.
  Async<void> turn_away();
  // A peer between two requests is not waited for; one that is being answered is left alone.
  void stop();
  // Makes room for others. False: it stays, because a request is being answered.
  bool leave();

  const ServerRequest& request() const override { return request_; }
  void on_gone(std::function<void()> tell) override { on_gone_ = std::move(tell); }
  bool gone() const override { return gone_; }
  bool streaming() const override { return streams_; }
  Async<bool> respond(ServerResponse response) override;
  Async<bool> begin(ServerResponse head) override;
  Async<bool> write(std::string piece) override;

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Refusal = std::optional<ServerResponse>;

  Async<bool> greet();        // the handshake of TLS; false: there is none
  Async<bool> one_request();  // true: another one may follow
  void forget_last_request();
  Async<bool> first_bytes();  // false: none came
  Async<Refusal> read_request();
  Async<bool> folds_a_line();
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
  Async<void> say_goodbye();
  void close();

  static constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

  HttpServer& server_;
  ServerStream stream_;
  // Bounded: the parser counts neither what stands beside the size of a chunk nor what follows the
  // last one, and wants to see it whole.
  boost::beast::flat_buffer buffer_;
  std::uint64_t number_;
  TaskGroup watching_;
  boost::asio::steady_timer first_look_;
  // Outlived by handlers of that timer.
  std::shared_ptr<Connection* const> self_ = std::make_shared<Connection* const>(this);
  bool handling_ = false;
  std::string peer_;  // its address; empty: unknown
  bool keep_alive_ = true;
  bool plain_ = false;  // HTTP/1.0, which has no streams
  bool idle_ = false;
  bool left_ = false;
  bool said_goodbye_ = false;
  bool gone_ = false;

  // Of the request at hand.
  ServerRequest request_{};
  Quota::Share body_;
  const Route* route_ = nullptr;
  std::function<void()> on_gone_{};
  bool unknown_ = true;  // its first request has not been authenticated yet
  bool answered_ = false;
  bool streams_ = false;
};

}  // namespace sallyport::net
