#include "net/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "base/lower_case.h"

namespace sallyport::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

constexpr std::size_t kReadBytes = 64u << 10;  // at once, beside a head
constexpr std::size_t kSmallBody = 64u << 10;  // one for each connection is no danger

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

ServerRequest value_of(const http::request_header<>& head) {
  ServerRequest request{.method = std::string(head.method_string())};
  const std::string_view target(head.target().data(), head.target().size());
  const std::size_t mark = target.find('?');
  request.path = std::string(target.substr(0, mark));
  if (mark != std::string_view::npos) request.query = std::string(target.substr(mark + 1));
  for (const auto& field : head) {
    request.headers.emplace_back(
        lower_case({field.name_string().data(), field.name_string().size()}),
        std::string(field.value()));
  }
  return request;
}

// What stands in front of us may see the end of a request elsewhere where it is told in a way that
// not everybody knows, and take what follows for somebody else's (RFC 9112, section 6.1).
bool ends_where_all_agree(const http::request_header<>& head) {
  const auto count = head.count(http::field::transfer_encoding);
  if (count == 0) return true;
  return count == 1 && head.version() >= 11 &&
         beast::iequals(head[http::field::transfer_encoding], "chunked");
}

ServerResponse busy(std::string why) {
  ServerResponse response = ServerResponse::text(503, std::move(why));
  response.headers.emplace_back("retry-after", "1");
  return response;
}

template <class Body>
void put_head(http::response<Body>& out, const ServerResponse& response) {
  out.result(response.status);
  out.set(http::field::server, "sallyport");
  for (const auto& [name, value] : response.headers) out.insert(name, value);
}

}  // namespace

struct HttpServer::Acceptor {
  explicit Acceptor(asio::any_io_executor executor) : socket(executor) {}
  tcp::acceptor socket;
};

// One peer: its requests one after the other.
class HttpServer::Connection final : public ServerExchange {
 public:
  Connection(HttpServer& server, tcp::socket socket)
      : server_(server),
        stream_(std::move(socket)),
        buffer_(server.limits_.header_bytes + kReadBytes),
        number_(++server.last_connection_),
        watching_(stream_.get_executor(), server.log_) {
    server_.connections_[number_] = this;
  }
  ~Connection() override { server_.connections_.erase(number_); }

  Async<void> serve();
  Async<void> turn_away();
  void stop();
  bool leave();

  const ServerRequest& request() const override { return request_; }
  void on_gone(std::function<void()> tell) override { on_gone_ = std::move(tell); }
  bool gone() const override { return gone_; }
  bool streaming() const override { return streams_; }
  Async<bool> respond(ServerResponse response) override;
  Async<bool> begin(ServerResponse head) override;
  Async<bool> write(std::string piece) override;

 private:
  Async<bool> one_request();
  Async<std::optional<ServerResponse>> read_request();
  bool hold(std::size_t bytes);
  Async<void> watch();
  void set_gone();
  void count(unsigned status) const;
  Async<void> linger();

  HttpServer& server_;
  beast::tcp_stream stream_;
  // Bounded: the parser counts neither what stands beside the size of a chunk nor what follows the
  // last one, and wants to see it whole.
  beast::flat_buffer buffer_;
  std::uint64_t number_;
  TaskGroup watching_;
  ServerRequest request_{};
  Quota::Share body_;
  const Route* route_ = nullptr;
  std::function<void()> on_gone_{};
  bool keep_alive_ = true;
  bool plain_ = false;  // HTTP/1.0, which has no streams
  bool idle_ = false;
  bool unknown_ = true;  // nobody has looked yet at who asks
  bool left_ = false;
  bool answered_ = false;
  bool streams_ = false;
  bool gone_ = false;
};

Async<void> HttpServer::Connection::serve() {
  stream_.socket().set_option(tcp::no_delay(true));
  while (!server_.stopping_ && !gone_ && co_await one_request()) {
  }
  boost::system::error_code ignored;
  stream_.socket().close(ignored);
}

// A peer that is still sending would lose our refusal to a reset.
Async<void> HttpServer::Connection::linger() {
  boost::system::error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.expires_after(std::chrono::seconds(1));
  std::array<char, 4096> waste{};
  for (int i = 0; i < 64; ++i) {
    const auto [error, size] = co_await stream_.async_read_some(asio::buffer(waste), kAwait);
    if (error || size == 0) break;
  }
}

Async<void> HttpServer::Connection::turn_away() {
  keep_alive_ = false;
  co_await respond(busy("too many connections\n"));
  boost::system::error_code ignored;
  stream_.socket().close(ignored);
}

// A peer between two requests is not waited for; one that is being answered is left alone.
void HttpServer::Connection::stop() {
  keep_alive_ = false;
  if (idle_) stream_.cancel();
}

// False: it is left alone, because somebody is being answered.
bool HttpServer::Connection::leave() {
  if (!unknown_ || left_) return false;
  left_ = true;
  stream_.close();
  return true;
}

// True: another one may follow.
Async<bool> HttpServer::Connection::one_request() {
  unknown_ = true;
  answered_ = streams_ = false;
  on_gone_ = nullptr;
  request_ = {};
  body_ = {};
  route_ = nullptr;
  if (buffer_.size() == 0) {
    idle_ = true;
    stream_.expires_after(server_.limits_.idle);
    const auto [error, size] = co_await stream_.async_read_some(buffer_.prepare(4096), kAwait);
    idle_ = false;
    if (error) {
      gone_ = error != beast::error::timeout && error != asio::error::operation_aborted;
      co_return false;
    }
    buffer_.commit(size);
  }
  std::optional<ServerResponse> refusal = co_await read_request();
  if (gone_) co_return false;
  if (refusal) {
    co_await respond(std::move(*refusal));
    if (!gone_) co_await linger();
    co_return false;
  }
  stream_.expires_never();
  watching_.start(watch());
  co_await route_->second->handle(*this);
  watching_.cancel();
  (void)co_await watching_.join(std::chrono::seconds(1));
  if (!answered_ && !gone_) {
    server_.log_(fmt::format("{} {} was not answered", request_.method, request_.path));
    co_await respond(ServerResponse::text(500, "a fault of ours\n"));
    co_return false;
  }
  if (streams_ && !gone_) {
    stream_.expires_after(server_.limits_.write);
    const auto [error, size] = co_await asio::async_write(stream_, http::make_chunk_last(), kAwait);
    if (error) set_gone();
  }
  co_return keep_alive_ && !gone_;
}

// The refusal, or nothing where it may be handled.
Async<std::optional<ServerResponse>> HttpServer::Connection::read_request() {
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(server_.limits_.header_bytes));
  parser.body_limit(server_.limits_.body_bytes);
  stream_.expires_after(server_.limits_.header);
  const auto refused = [](const boost::system::error_code& error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return ServerResponse::text(431, "the header is too long\n");
    if (error == http::error::body_limit)
      return ServerResponse::text(413, "the body is too long\n");
    return ServerResponse::text(400, "this is no request that HTTP/1.1 knows\n");
  };
  const auto lost = [](const boost::system::error_code& error) {
    // A peer that was too slow is closed already.
    return error == beast::error::timeout || error == http::error::end_of_stream ||
           error == http::error::partial_message ||
           error.category() == asio::error::get_system_category() ||
           error.category() == asio::error::get_misc_category();
  };
  const auto [error, size] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
  if (error && lost(error)) gone_ = true;
  if (error) {
    keep_alive_ = false;
    co_return refused(error);
  }
  const auto& head = parser.get();
  if (!ends_where_all_agree(head)) {
    keep_alive_ = false;
    co_return ServerResponse::text(501, "of transfer codings only `chunked` is known here\n");
  }
  keep_alive_ = keep_alive_ && head.keep_alive();
  plain_ = head.version() < 11;
  request_ = value_of(head);
  std::optional<ServerResponse> refusal = server_.names_.refuse(request_);
  if (!refusal) {
    route_ = server_.route_of(request_);
    if (route_) {
      refusal = co_await route_->second->refuse(request_);
    } else {
      refusal = ServerResponse::text(404, "nothing is here\n");
    }
  }
  if (refusal) {
    // What follows may be a body that nobody wants to read.
    keep_alive_ = false;
    co_return refusal;
  }
  unknown_ = false;
  // Nobody reads what comes with a request to be shown something, and some of that is shown to all.
  if (request_.method != "POST") {
    parser.body_limit(kSmallBody);
    if (parser.content_length().value_or(0) > kSmallBody) {
      keep_alive_ = false;
      co_return refused(http::error::body_limit);
    }
  }
  if (request_.header("expect") == "100-continue") {
    stream_.expires_after(server_.limits_.write);
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(stream_, asio::buffer(kGoOn), kAwait);
  }
  stream_.expires_after(server_.limits_.body);
  body_ = server_.bodies_.share_of(request_.principal);
  while (!parser.is_done()) {
    const auto [failed, more] = co_await http::async_read_some(stream_, buffer_, parser, kAwait);
    if (failed && lost(failed)) gone_ = true;
    if (failed) {
      keep_alive_ = false;
      co_return refused(failed);
    }
    if (!hold(parser.get().body().size())) {
      keep_alive_ = false;
      co_return busy("too much is being read; try again later\n");
    }
  }
  request_.body = std::move(parser.get().body());
  co_return std::nullopt;
}

bool HttpServer::Connection::hold(std::size_t bytes) {
  return bytes <= kSmallBody || body_.grow_to(bytes);
}

// While the handler runs: is the peer still there? A peer that has sent its next request already
// is.
Async<void> HttpServer::Connection::watch() {
  while (!gone_ && buffer_.size() == 0) {
    boost::system::error_code error;
    co_await stream_.socket().async_wait(tcp::socket::wait_read,
                                         asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    char byte = 0;
    const ssize_t seen =
        ::recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (seen > 0) co_return;
    if (seen < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) continue;
    set_gone();
  }
}

void HttpServer::Connection::set_gone() {
  if (gone_) return;
  gone_ = true;
  if (const auto tell = std::exchange(on_gone_, nullptr)) tell();
}

// Before it is written: whoever sees the answer finds it counted.
void HttpServer::Connection::count(unsigned status) const {
  if (server_.answered_) server_.answered_(route_ ? route_->first : "other", status);
}

Async<bool> HttpServer::Connection::respond(ServerResponse response) {
  answered_ = true;
  count(response.status);
  if (gone_) co_return false;
  http::response<http::string_body> out;
  put_head(out, response);
  out.keep_alive(keep_alive_);
  const bool bare = response.status == 204 || response.status == 304;
  out.body() = std::move(response.body);
  if (!bare) out.content_length(out.body().size());
  stream_.expires_after(server_.limits_.write);
  http::serializer<false, http::string_body> serializer(out);
  const bool headers_only = request_.method == "HEAD";
  if (headers_only) serializer.split(true);
  const auto [error, size] = headers_only
                                 ? co_await http::async_write_header(stream_, serializer, kAwait)
                                 : co_await http::async_write(stream_, serializer, kAwait);
  if (error) set_gone();
  co_return !error;
}

Async<bool> HttpServer::Connection::begin(ServerResponse head) {
  if (plain_) {
    keep_alive_ = false;
    co_await respond(ServerResponse::text(505, "streams need HTTP/1.1\n"));
    co_return false;
  }
  answered_ = streams_ = true;
  count(head.status);
  if (gone_) co_return false;
  http::response<http::empty_body> out;
  put_head(out, head);
  out.keep_alive(keep_alive_);
  out.chunked(true);
  stream_.expires_after(server_.limits_.write);
  http::serializer<false, http::empty_body> serializer(out);
  const auto [error, size] = co_await http::async_write_header(stream_, serializer, kAwait);
  if (error) set_gone();
  co_return !error;
}

Async<bool> HttpServer::Connection::write(std::string piece) {
  if (gone_ || !streams_) co_return false;
  if (piece.empty()) co_return true;
  stream_.expires_after(server_.limits_.write);
  const auto [error, size] =
      co_await asio::async_write(stream_, http::make_chunk(asio::buffer(piece)), kAwait);
  stream_.expires_never();
  if (error) set_gone();
  co_return !error;
}

HttpServer::HttpServer(asio::any_io_executor executor, HttpLimits limits, Log log)
    : executor_(executor),
      limits_(limits),
      log_(std::move(log)),
      bodies_(limits.bodies),
      tasks_(executor, log_) {}

HttpServer::~HttpServer() = default;

void HttpServer::route(std::string path, HttpHandler& handler) {
  routes_[std::move(path)] = &handler;
}

void HttpServer::serve_only(HttpNames names) {
  names_ = std::move(names);
}

Result<std::uint16_t> HttpServer::listen(const std::string& address, std::uint16_t port) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{}` is no address to listen on", address));
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
                fmt::format("cannot listen on {}:{}: {}", address, port, error.message()));
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
    const auto [error] = co_await acceptor_->socket.async_accept(socket, kAwait);
    if (stopping_ || error == asio::error::operation_aborted) break;
    if (error) {
      // Mostly: no descriptors are left. Some will be, soon.
      asio::steady_timer pause(executor_, std::chrono::milliseconds(100));
      boost::system::error_code ignored;
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    const bool full = connections_.size() >= limits_.connections && !make_room();
    const auto serve = [](std::unique_ptr<Connection> connection, bool away) -> Async<void> {
      if (away) {
        co_await connection->turn_away();
      } else {
        co_await connection->serve();
      }
    };
    // Beyond twice as many nobody is told any more.
    if (connections_.size() >= 2 * limits_.connections) continue;
    tasks_.start(serve(std::make_unique<Connection>(*this, std::move(socket)), full));
  }
  boost::system::error_code ignored;
  acceptor_->socket.close(ignored);
}

// Who connects and says nothing keeps nobody out: the oldest one that has not said who asks goes.
bool HttpServer::make_room() {
  return std::ranges::any_of(connections_, [](const auto& one) { return one.second->leave(); });
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
