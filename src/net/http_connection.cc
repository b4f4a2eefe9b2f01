#include "net/http_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <vector>

#include "base/lower_case.h"
#include "net/folded_header.h"
#include "net/header_text.h"
#include "net/page_headers.h"
#include "net/server_tls.h"

namespace sallyport::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr std::size_t kReadBytes = 64u << 10;  // at once, beside a head
constexpr std::size_t kSmallBody = 64u << 10;  // bodies up to this size are not counted
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::milliseconds kFirstLook{25};

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

// If a request marks its end in an uncommon way, a proxy in front of us may see the end elsewhere
// and take what follows for another client's request (RFC 9112, section 6.1).
bool ends_where_all_agree(const http::request_header<>& head) {
  const auto count = head.count(http::field::transfer_encoding);
  if (count == 0) return true;
  return count == 1 && head.version() >= 11 &&
         beast::iequals(head[http::field::transfer_encoding], "chunked");
}

// A peer that was too slow is closed already.
bool peer_is_lost(const boost::system::error_code& error) {
  return error == beast::error::timeout || error == http::error::end_of_stream ||
         error == http::error::partial_message ||
         error.category() == asio::error::get_system_category() ||
         error.category() == asio::error::get_misc_category() ||
         error.category() == asio::error::get_ssl_category() ||
         error.category() == asio::ssl::error::get_stream_category();
}

ServerResponse too_long() {
  ServerResponse response = ServerResponse::text(413, "the body is too long\n");
  response.cause = "too_large";
  return response;
}

ServerResponse busy(std::string why) {
  ServerResponse response = ServerResponse::text(503, std::move(why));
  response.headers.emplace_back("retry-after", "1");
  response.cause = "busy";
  return response;
}

// A refusal of a request without a known route, which may be for a page (CO-4).
ServerResponse for_any_page(ServerResponse refusal) {
  add_page_headers(refusal);
  return refusal;
}

template <class Body>
void put_head(http::response<Body>& out, const ServerResponse& response) {
  out.result(response.status);
  for (const auto& [name, value] : response.headers) {
    if (is_header_name(name) && is_header_value(value)) out.insert(name, value);
  }
  if (out.find(http::field::server) == out.end()) out.set(http::field::server, "sallyport");
}

}  // namespace

HttpServer::Connection::Connection(HttpServer& server, tcp::socket socket)
    : server_(server),
      stream_(std::move(socket), server.tls_ ? &server.tls_->context() : nullptr),
      buffer_(server.limits_.header_bytes + kReadBytes),
      number_(++server.last_connection_),
      watching_(stream_.get_executor(), server.log_),
      first_look_(stream_.get_executor()) {
  boost::system::error_code unknown;
  const tcp::endpoint peer = stream_.bottom().socket().remote_endpoint(unknown);
  if (!unknown) peer_ = peer.address().to_string();
  server_.connections_[number_] = this;
}

HttpServer::Connection::~Connection() {
  server_.connections_.erase(number_);
}

Async<void> HttpServer::Connection::serve() {
  stream_.bottom().socket().set_option(tcp::no_delay(true));
  gone_ = !co_await handshake();
  while (!server_.stopping_ && !gone_ && co_await one_request()) {
  }
  if (!gone_) co_await send_close_notice();
  close();
}

// A connection in its handshake counts as idle, so it may be closed to make room for another.
Async<bool> HttpServer::Connection::handshake() {
  if (!stream_.has_tls()) co_return true;
  stream_.bottom().expires_after(server_.limits_.header);
  idle_ = true;
  const auto [error] = co_await stream_.async_handshake(kAwait);
  idle_ = false;
  co_return !error;
}

// Over TLS the connection closes without a response, because a handshake costs more than the
// response is worth.
Async<void> HttpServer::Connection::refuse_busy() {
  keep_alive_ = false;
  if (!stream_.has_tls()) co_await respond(for_any_page(busy("too many connections\n")));
  close();
}

// Ends TLS properly, so that no peer takes a cut connection for the end.
Async<void> HttpServer::Connection::send_close_notice() {
  if (!stream_.has_tls() || std::exchange(sent_close_notice_, true)) co_return;
  stream_.bottom().expires_after(std::chrono::seconds(1));
  co_await stream_.async_shutdown(kAwait);
}

void HttpServer::Connection::stop() {
  keep_alive_ = false;
  if (idle_) stream_.bottom().cancel();
}

bool HttpServer::Connection::leave() {
  if (!unknown_ || left_) return false;
  left_ = true;
  stream_.bottom().close();
  return true;
}

void HttpServer::Connection::close() {
  boost::system::error_code ignored;
  stream_.bottom().socket().close(ignored);
}

Async<bool> HttpServer::Connection::one_request() {
  forget_last_request();
  if (!co_await first_bytes()) co_return false;
  Refusal refusal = co_await read_request();
  if (gone_ && request_.unread.empty()) co_return false;
  if (refusal) {
    co_await respond(std::move(*refusal));
    if (!gone_) co_await linger();
    co_return false;
  }
  co_await run_handler();
  if (!answered_ && !gone_) {
    server_.log_(fmt::format("{} {} was not answered", request_.method, request_.path));
    ServerResponse failed = ServerResponse::text(500, "internal error\n");
    failed.cause = "internal";
    co_await respond(route_->second.handler->format_refusal(std::move(failed)));
    co_return false;
  }
  if (streams_ && !gone_) co_await end_stream();
  if (!request_.unread.empty() && !gone_) co_await linger();
  co_return keep_alive_ && !gone_;
}

void HttpServer::Connection::forget_last_request() {
  request_ = {};
  body_ = {};
  route_ = nullptr;
  on_gone_ = nullptr;
  unknown_ = true;
  answered_ = streams_ = false;
}

// The deadline of a head begins with its first byte. Before that, a peer may be silent for longer.
Async<bool> HttpServer::Connection::first_bytes() {
  if (buffer_.size() != 0) co_return true;
  idle_ = true;
  stream_.bottom().expires_after(server_.limits_.idle);
  const auto [error, size] = co_await stream_.async_read_some(buffer_.prepare(4096), kAwait);
  idle_ = false;
  if (error) {
    gone_ = error != beast::error::timeout && error != asio::error::operation_aborted;
    co_return false;
  }
  buffer_.commit(size);
  co_return true;
}

// Returns the refusal; no value: the request may be handled.
Async<HttpServer::Connection::Refusal> HttpServer::Connection::read_request() {
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(server_.limits_.header_bytes));
  // The route, and so the limit of the body, is known only after the head.
  parser.body_limit(boost::none);
  Refusal refusal = co_await read_head(parser);
  if (refusal) refusal = for_any_page(std::move(*refusal));
  if (!refusal) refusal = co_await judge_head();
  const bool admitted = !refusal;
  if (admitted) refusal = co_await read_body(parser);
  // The next bytes may be a body that no handler reads.
  if (refusal) keep_alive_ = false;
  if (!refusal || !admitted) co_return refusal;
  const HttpHandler& handler = *route_->second.handler;
  if (!handler.answers_unread()) co_return handler.format_refusal(std::move(*refusal));
  request_.unread = std::move(refusal->cause);
  if (request_.unread.empty()) request_.unread = gone_ ? "cut" : "damaged";
  // The handler of an upload that the end of the server interrupts may still write.
  if (gone_) co_await asio::this_coro::reset_cancellation_state();
  co_return std::nullopt;
}

// Reads the whole head before the parser, which would join folded lines silently.
Async<bool> HttpServer::Connection::has_folded_header() {
  while (true) {
    const auto data = buffer_.data();
    const std::string_view bytes(static_cast<const char*>(data.data()), data.size());
    if (has_folded_line(bytes)) co_return true;
    const std::size_t room = buffer_.max_size() - buffer_.size();
    // Other errors are found by the parser.
    if (!whole_head(bytes).empty() || bytes.size() > server_.limits_.header_bytes || room == 0) {
      co_return false;
    }
    const auto [error, size] = co_await stream_.async_read_some(
        buffer_.prepare(std::min<std::size_t>(room, 4096)), kAwait);
    if (error) co_return false;
    buffer_.commit(size);
  }
}

Async<HttpServer::Connection::Refusal> HttpServer::Connection::read_head(Parser& parser) {
  stream_.bottom().expires_after(server_.limits_.header);
  if (co_await has_folded_header()) {
    co_return ServerResponse::text(400, "a header line must not continue on the next line\n");
  }
  const auto [error, size] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
  if (error) co_return refused(error);
  const auto& head = parser.get();
  if (!ends_where_all_agree(head)) {
    co_return ServerResponse::text(501, "of transfer codings only `chunked` is known here\n");
  }
  keep_alive_ = keep_alive_ && head.keep_alive();
  plain_ = head.version() < 11;
  request_ = value_of(head);
  request_.peer = peer_;
  co_return std::nullopt;
}

Async<HttpServer::Connection::Refusal> HttpServer::Connection::judge_head() {
  Refusal refusal = co_await refuse_head();
  const bool not_admitted = refusal && (refusal->status == 401 || refusal->status == 403);
  if (not_admitted && server_.refused_) {
    co_await server_.refused_(route_ ? route_->first : std::string("other"), refusal->status,
                              refusal->body);
  }
  co_return refusal;
}

// Called before any of the body is read or stored.
Async<HttpServer::Connection::Refusal> HttpServer::Connection::refuse_head() {
  const Route* const route = server_.route_of(request_);
  Refusal refusal = server_.names_.refuse(request_);
  if (refusal && route != nullptr)
    refusal = route->second.handler->format_refusal(std::move(*refusal));
  if (refusal) co_return refusal;
  route_ = route;
  if (route_ == nullptr) co_return ServerResponse::text(404, "no page at this path\n");
  refusal = co_await route_->second.handler->refuse(request_);
  unknown_ = refusal.has_value();
  co_return refusal;
}

Async<HttpServer::Connection::Refusal> HttpServer::Connection::read_body(Parser& parser) {
  // A request that only reads needs no body, and some pages are open to everyone.
  const bool only_reads = request_.method == "GET" || request_.method == "HEAD";
  const std::size_t limit =
      only_reads ? kSmallBody
                 : route_->second.limits.body_bytes.value_or(server_.limits_.body_bytes);
  parser.body_limit(limit);
  if (parser.content_length().value_or(0) > limit) co_return too_long();
  if (!plain_ && lower_case(request_.header("expect").value_or("")) == "100-continue") {
    stream_.bottom().expires_after(write_limit());
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(stream_, asio::buffer(kGoOn), kAwait);
  }
  stream_.bottom().expires_after(server_.limits_.body);
  body_ = server_.bodies_.share_of(request_.principal);
  while (!parser.is_done()) {
    const auto [error, size] = co_await http::async_read_some(stream_, buffer_, parser, kAwait);
    if (error) co_return refused(error);
    if (!hold(parser.get().body().size())) {
      co_return busy("too much is being read; try again later\n");
    }
  }
  request_.body = std::move(parser.get().body());
  co_return std::nullopt;
}

// The response to a request that could not be read, for a peer that is still connected.
ServerResponse HttpServer::Connection::refused(const boost::system::error_code& error) {
  if (peer_is_lost(error)) gone_ = true;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return ServerResponse::text(431, "the header is too long\n");
  }
  if (error == http::error::body_limit) return too_long();
  return ServerResponse::text(400, "the request is not valid HTTP/1.1\n");
}

bool HttpServer::Connection::hold(std::size_t bytes) {
  return bytes <= kSmallBody || body_.grow_to(bytes);
}

// Sets the write deadline for so many bytes. Returns their share, held until they are written.
Quota::Share HttpServer::Connection::give_time_for(std::size_t bytes) {
  Quota::Share unread = server_.unread_.share_of(request_.principal);
  const bool room = bytes <= kSmallBody || unread.grow_to(bytes);
  stream_.bottom().expires_after(room ? write_limit() : server_.limits_.hurried);
  return unread;
}

std::chrono::milliseconds HttpServer::Connection::write_limit() const {
  const auto own = route_ != nullptr ? route_->second.limits.write : std::nullopt;
  return own.value_or(server_.limits_.write);
}

Async<void> HttpServer::Connection::run_handler() {
  stream_.bottom().expires_never();
  {
    // The callback of the handler must not outlive it, even if it throws.
    struct Handling {
      Connection& connection;
      ~Handling() {
        connection.handling_ = false;
        connection.on_gone_ = nullptr;
        connection.first_look_.cancel();
      }
    };
    const Handling handling{*this};
    handling_ = true;
    watch_later();
    co_await route_->second.handler->handle(*this);
  }
  if (watching_.size() == 0) co_return;
  watching_.cancel();
  (void)co_await watching_.join(std::chrono::seconds(1));
}

// Starts `watch` after a delay, because most requests are answered before.
void HttpServer::Connection::watch_later() {
  first_look_.expires_after(kFirstLook);
  first_look_.async_wait([self = std::weak_ptr(self_)](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    const std::shared_ptr<Connection* const> connection = self.lock();
    if (!connection || !(*connection)->handling_ || (*connection)->watching_.size() > 0) return;
    (*connection)->watching_.start((*connection)->watch());
  });
}

// Detects a peer that leaves while the handler runs. If the peer has already sent more bytes, it is
// checked periodically instead.
Async<void> HttpServer::Connection::watch() {
  bool sent_more = buffer_.size() != 0;
  while (!gone_) {
    boost::system::error_code error;
    if (sent_more) {
      asio::steady_timer pause(stream_.get_executor(), kLook);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
    } else {
      co_await stream_.bottom().socket().async_wait(
          tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
    }
    if (error) co_return;
    pollfd peer{.fd = stream_.bottom().socket().native_handle(), .events = POLLRDHUP, .revents = 0};
    if (::poll(&peer, 1, 0) != 0) set_gone();
    sent_more = true;
  }
}

void HttpServer::Connection::set_gone() {
  if (gone_) return;
  gone_ = true;
  if (const auto callback = std::exchange(on_gone_, nullptr)) callback();
}

// Called before the write, so that a client that sees the response finds it counted.
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
  const Quota::Share unread = give_time_for(out.body().size());
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
  stream_.bottom().expires_after(write_limit());
  http::serializer<false, http::empty_body> serializer(out);
  const auto [error, size] = co_await http::async_write_header(stream_, serializer, kAwait);
  if (error) set_gone();
  co_return !error;
}

Async<bool> HttpServer::Connection::write(std::string piece) {
  if (gone_ || !streams_) co_return false;
  if (piece.empty()) co_return true;
  const Quota::Share unread = give_time_for(piece.size());
  const auto [error, size] =
      co_await asio::async_write(stream_, http::make_chunk(asio::buffer(piece)), kAwait);
  stream_.bottom().expires_never();
  if (error) set_gone();
  co_return !error;
}

Async<void> HttpServer::Connection::end_stream() {
  stream_.bottom().expires_after(write_limit());
  const auto [error, size] = co_await asio::async_write(stream_, http::make_chunk_last(), kAwait);
  if (error) set_gone();
}

// A peer that is still sending would lose our refusal to a reset.
Async<void> HttpServer::Connection::linger() {
  co_await send_close_notice();
  boost::system::error_code ignored;
  stream_.bottom().socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.bottom().expires_after(std::chrono::seconds(2));
  constexpr std::size_t kMost = 128u << 20;  // many clients write a whole body before they read
  std::vector<char> waste(64u << 10);
  for (std::size_t read = 0; read < kMost;) {
    const auto [error, size] =
        co_await stream_.bottom().async_read_some(asio::buffer(waste), kAwait);
    if (error || size == 0) break;
    read += size;
  }
}

}  // namespace sallyport::net
