// An HTTP/1.1 server. Connections, sizes and times are bounded, and a stream notices when its
// client no longer reads.
//
//   HttpServer server(executor, {}, log);
//   server.route("/healthz", health);
//   SALLYPORT_CO_TRY(const std::uint16_t port, server.listen("127.0.0.1", 0));
//   co_await server.run(patience);   // until stop()
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "net/http_names.h"
#include "net/quota.h"
#include "net/server_request.h"
#include "net/task_group.h"

namespace sallyport::net {

class ServerTls;

// One request and its way back. Lives as long as its handler runs. Call either `respond` once, or
// `begin` once and then `write` any number of times.
class ServerExchange {
 public:
  virtual ~ServerExchange() = default;

  virtual const ServerRequest& request() const = 0;
  // Called once, if the peer closes its end before the handler is done.
  virtual void on_gone(std::function<void()> callback) = 0;
  virtual bool gone() const = 0;

  // False, here and below: the client no longer reads.
  virtual Async<bool> respond(ServerResponse response) = 0;
  virtual bool can_stream() const { return true; }  // false: HTTP/1.0, where `begin` fails
  // The head of a stream; its end comes when the handler returns.
  virtual Async<bool> begin(ServerResponse head) = 0;
  virtual bool streaming() const = 0;  // `begin` was called
  virtual Async<bool> write(std::string piece) = 0;
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Checks a request before its body is read, and may set its principal. A response refuses it.
  virtual Async<std::optional<ServerResponse>> refuse(ServerRequest& head) = 0;
  // A handler that returns without a response is a bug; the client gets 500.
  virtual Async<void> handle(ServerExchange& exchange) = 0;
  // True: a request is handled without its body if that is too long, damaged or cut, or if there is
  // no room for it.
  virtual bool answers_unread() const { return false; }
  // Formats a refusal of the server itself for this route, for example of a host name or a length.
  virtual ServerResponse format_refusal(ServerResponse refusal) const { return refusal; }
};

struct HttpLimits {
  std::size_t connections = 1024;
  std::size_t header_bytes = 32u << 10;
  std::size_t body_bytes = 16u << 20;
  // Memory of bodies that are being read or handled; small ones always fit.
  Quota::Limits bodies{};
  std::chrono::milliseconds idle{75'000};    // between two requests
  std::chrono::milliseconds header{10'000};  // from the first byte of a request
  std::chrono::milliseconds body{60'000};
  std::chrono::milliseconds write{30'000};  // for each piece
  // Memory of responses that peers have not read yet; small ones always fit. A response beyond it
  // is still sent, but its peer has only `hurried` to read it.
  Quota::Limits unread{};
  std::chrono::milliseconds hurried{1'000};
};

// Of one route, where they differ from those of the server.
struct RouteLimits {
  std::optional<std::size_t> body_bytes{};
  std::optional<std::chrono::milliseconds> write{};  // for each piece
};

// On a context with one thread.
class HttpServer {
 public:
  using Log = std::function<void(std::string_view)>;

  HttpServer(boost::asio::any_io_executor executor, HttpLimits limits, Log log);
  HttpServer(const HttpServer&) = delete;
  ~HttpServer();

  // Routes a path, or with `/` at its end everything below it. The handler must outlive the server.
  // Called before `run`.
  void route(std::string path, HttpHandler& handler, RouteLimits limits = {});
  // Checked before anything else. By default every name is served.
  void serve_only(HttpNames names);
  // New connections use TLS with this certificate. Existing ones keep theirs.
  void serve_tls(std::unique_ptr<ServerTls> tls);

  // Called for every response, with the path of its route (`other`: none) and the status.
  using Answered = std::function<void(std::string_view route, unsigned status)>;
  void on_answer(Answered callback) { answered_ = std::move(callback); }

  // Called for every request that is refused with 401 or 403, before the refusal is sent, with the
  // path of its route (`other`: none) and the refusal.
  using Refused = std::function<Async<void>(std::string route, unsigned status, std::string why)>;
  void on_refusal(Refused callback) { refused_ = std::move(callback); }

  // Port 0: any. Returns the port. `Unavailable` says why not.
  Result<std::uint16_t> listen(const std::string& address, std::uint16_t port);
  // Runs until `stop`. Open requests then have `patience` to end.
  Async<void> run(std::chrono::milliseconds patience);
  void stop();  // no more connections, and no more requests on open ones

 private:
  struct Acceptor;
  class Connection;

  Async<void> accept();
  bool make_room();
  void report_waiting_clients(const std::string& why);  // at most once a minute
  struct Target {
    HttpHandler* handler;
    RouteLimits limits;
  };
  using Route = std::pair<const std::string, Target>;
  const Route* route_of(const ServerRequest& request) const;  // null: there is none

  boost::asio::any_io_executor executor_;
  HttpLimits limits_;
  Log log_;
  std::optional<std::chrono::steady_clock::time_point> reported_at_;  // of waiting clients
  HttpNames names_;
  Answered answered_;
  Refused refused_;
  std::map<std::string, Target> routes_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<ServerTls> tls_;                    // null: without
  std::map<std::uint64_t, Connection*> connections_;  // each removes itself
  std::uint64_t last_connection_ = 0;
  Quota bodies_;
  Quota unread_;
  bool stopping_ = false;
  TaskGroup tasks_;
};

}  // namespace sallyport::net
