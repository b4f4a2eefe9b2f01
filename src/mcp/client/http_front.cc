#include "mcp/client/http_front.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/lower_case.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"
#include "mcp/message/translation.h"
#include "mcp/server/pending_requests.h"
#include "oauth/challenge.h"

namespace sallyport::mcp {

namespace asio = boost::asio;
using net::ServerResponse;

namespace {

constexpr std::string_view kSessionHeader = "mcp-session-id";

ServerResponse refusal(const Refused& refused, std::string_view id) {
  return ServerResponse::json(refused.status,
                              error_text(id, refused.code, refused.message, refused.data));
}

ServerResponse refusal(const Error& error, std::string_view id) {
  if (error.cause == "no_era") {
    return refusal(
        Refused{.code = kInvalidParams, .message = error.message, .data = every_version("")}, id);
  }
  const unsigned status = error.code == ErrorCode::InvalidInput ? 400
                          : error.code == ErrorCode::NotFound   ? 404
                          : error.code == ErrorCode::Conflict   ? 400
                                                                : 503;
  const std::int64_t code = error.code == ErrorCode::Exhausted ? kTooMuch : kInvalidRequest;
  ServerResponse response = ServerResponse::json(status, error_text(id, code, error.message));
  if (status == 503) response.headers.emplace_back("retry-after", "5");
  return response;
}

unsigned unreadable_status(const Error& error) {
  return error.cause == kOverLimit ? 413 : 400;
}

ServerResponse not_allowed() {
  ServerResponse response = ServerResponse::text(405, "POST a message here\n");
  response.headers.emplace_back("allow", "POST");
  return response;
}

// Where a client lost a stream, from the id of the last event that it got.
struct EventPlace {
  std::uint64_t stream = 0;
  std::uint64_t delivered = 0;
};

// No value: it is not an id of ours.
std::optional<EventPlace> place_of(std::string_view event_id) {
  const std::size_t dash = event_id.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = number_of(event_id.substr(0, dash));
  const auto delivered = number_of(event_id.substr(dash + 1));
  if (!stream || !delivered) return std::nullopt;
  return EventPlace{*stream, *delivered};
}

bool is_json(const net::ServerRequest& head) {
  const auto type = head.header("content-type");
  return type && lower_case(*type).starts_with("application/json");
}

}  // namespace

// Counts an exchange while it uses a session.
class HttpFront::Use {
 public:
  Use(HttpFront& front, SessionPtr session) : front_(front), session_(std::move(session)) {
    ++session_->exchanges;
    session_->used = front_.parts_.clock.steady();
  }
  Use(const Use&) = delete;
  ~Use() {
    --session_->exchanges;
    session_->used = front_.parts_.clock.steady();
  }

 private:
  HttpFront& front_;
  SessionPtr session_;  // shared with the requests that use it
};

HttpFront::HttpFront(asio::any_io_executor executor, Parts parts, Settings settings)
    : executor_(executor),
      parts_(std::move(parts)),
      settings_(std::move(settings)),
      running_({2 * settings_.front.sessions, 2 * settings_.front.sessions_each}),
      tasks_(executor, parts_.log),
      bell_(executor) {}

Async<std::optional<ServerResponse>> HttpFront::refuse(net::ServerRequest& head) {
  Result<std::string> principal = co_await parts_.authenticate(head);
  if (!principal) co_return unauthorized(head, principal.error());
  head.principal = std::move(*principal);
  if (head.method != "POST" && head.method != "GET" && head.method != "DELETE") {
    co_return not_allowed();
  }
  if (head.method == "POST" && !is_json(head)) {
    co_return ServerResponse::text(415, "send `Content-Type: application/json`\n");
  }
  co_return std::nullopt;
}

// A token that cannot be checked now may be valid, so the client is asked to retry.
ServerResponse HttpFront::unauthorized(const net::ServerRequest& head, const Error& why) const {
  if (why.code != ErrorCode::Unauthenticated) {
    ServerResponse response = ServerResponse::text(503, why.message + '\n');
    response.headers.emplace_back("retry-after", "5");
    return response;
  }
  const bool known = why.cause == oauth::kInsufficientScope;
  ServerResponse response = ServerResponse::text(known ? 403 : 401, why.message + '\n');
  std::string challenge = fmt::format("Bearer resource_metadata=\"{}\"", settings_.metadata);
  if (head.count("authorization") > 0) {
    challenge += fmt::format(", error=\"{}\", error_description=\"{}\"",
                             known ? oauth::kInsufficientScope : "invalid_token", why.message);
  }
  if (!settings_.scope.empty()) challenge += fmt::format(", scope=\"{}\"", settings_.scope);
  response.headers.emplace_back("www-authenticate", std::move(challenge));
  return response;
}

Async<void> HttpFront::handle(net::ServerExchange& exchange) {
  const net::ServerRequest& request = exchange.request();
  std::string principal = request.principal;
  if (stopping_ || principal.empty()) {
    co_await exchange.respond(ServerResponse::text(503, "this server is ending\n"));
  } else if (request.method == "POST") {
    co_await post(exchange, std::move(principal));
  } else if (request.count(kSessionHeader) == 0) {
    co_await exchange.respond(not_allowed());
  } else if (request.method == "GET") {
    co_await get(exchange, std::move(principal));
  } else {
    co_await end_session(exchange, std::move(principal));
  }
}

Async<void> HttpFront::post(net::ServerExchange& exchange, std::string principal) {
  const std::string& body = exchange.request().body;
  if (is_batch(body)) {
    co_await post_batch(exchange, std::move(principal));
    co_return;
  }
  Result<Message> message = Message::read(body, settings_.limits.json());
  if (!message) {
    co_await exchange.respond(ServerResponse::json(unreadable_status(message.error()),
                                                   unreadable_text(body, message.error())));
  } else if (is_modern(exchange.request(), *message)) {
    co_await post_modern(exchange, std::move(principal), std::move(*message));
  } else if (message->method == "initialize" && message->kind == Message::Kind::Request) {
    co_await post_opening(exchange, std::move(principal), std::move(*message));
  } else {
    co_await post_legacy(exchange, std::move(principal), std::move(*message));
  }
}

Async<void> HttpFront::post_modern(net::ServerExchange& exchange, std::string principal,
                                   Message message) {
  if (const auto refused = refuse_modern(exchange.request(), message)) {
    co_await exchange.respond(refusal(*refused, message.id));
    co_return;
  }
  // Nothing to do: a client of this era cancels by closing its stream.
  if (message.kind == Message::Kind::Notification) {
    co_await exchange.respond({.status = 202});
    co_return;
  }
  Result<SessionPtr> session = shared_session(principal);
  if (!session) {
    co_await exchange.respond(refusal(session.error(), message.id));
    co_return;
  }
  ResponseStyle style{.modern = true, .streams = accepts(exchange.request(), kEventStream)};
  co_await pass_on(exchange, std::move(*session), std::move(message), std::move(style));
}

Async<void> HttpFront::post_opening(net::ServerExchange& exchange, std::string principal,
                                    Message message) {
  Result<SessionPtr> opened = open_session(std::move(principal), false);
  if (!opened) {
    co_await exchange.respond(refusal(opened.error(), message.id));
    co_return;
  }
  const SessionPtr session = std::move(*opened);
  const Use use(*this, session);
  std::array<std::uint8_t, 32> random{};
  parts_.entropy.fill(random);
  const std::string id = hex(random);
  sessions_[id] = session;
  ResponseStyle style{.streams = accepts(exchange.request(), kEventStream), .id = message.id};
  style.headers.emplace_back(kSessionHeader, id);
  Result<std::shared_ptr<Outlet>> outlet =
      session->link->ask(std::move(message), exchange.request());
  std::optional<std::string> reply;
  if (outlet) {
    reply = co_await answer(exchange, session, *outlet, std::move(style));
  } else {
    co_await exchange.respond(refusal(outlet.error(), {}));
  }
  const auto version = reply ? find(*reply, {"result", "protocolVersion"}) : std::nullopt;
  if (version) {
    session->version = std::string(version->substr(1, version->size() - 2));
  } else {
    session->conversation->stop();
    forget(*session);
  }
}

Async<void> HttpFront::post_legacy(net::ServerExchange& exchange, std::string principal,
                                   Message message) {
  Result<SessionPtr> session = session_of(exchange.request(), principal);
  if (!session) {
    co_await exchange.respond(refusal(session.error(), message.id));
  } else if (const auto refused = refuse_legacy(exchange.request())) {
    co_await exchange.respond(refusal(*refused, message.id));
  } else {
    ResponseStyle style{.numbered = true, .streams = accepts(exchange.request(), kEventStream)};
    co_await pass_on(exchange, std::move(*session), std::move(message), std::move(style));
  }
}

// Batches of one revision. Each message is handled separately, and the answers share a stream.
Async<void> HttpFront::post_batch(net::ServerExchange& exchange, std::string principal) {
  const net::ServerRequest& request = exchange.request();
  const Result<ParsedJson> read = parse_json(request.body, settings_.limits.json());
  Result<SessionPtr> session = session_of(request, principal);
  constexpr std::size_t kLargest = 256;
  const std::vector<std::string_view> messages =
      read ? elements(request.body) : std::vector<std::string_view>{};
  if (!read) {
    co_await exchange.respond(ServerResponse::json(unreadable_status(read.error()),
                                                   unreadable_text(request.body, read.error())));
    co_return;
  }
  const bool ended = !session && session.error().code == ErrorCode::NotFound;
  if (ended) {
    co_await exchange.respond(refusal(session.error(), {}));
    co_return;
  }
  if (messages.empty() || messages.size() > kLargest || !session ||
      (*session)->version != "2025-03-26") {
    const Refused refused{.code = kInvalidRequest,
                          .message = "batches belong to sessions of 2025-03-26"};
    co_await exchange.respond(refusal(refused, {}));
    co_return;
  }
  const Use use(*this, *session);
  std::vector<std::shared_ptr<Outlet>> outlets;
  for (const std::string_view text : messages) {
    Result<Message> message = Message::read(std::string(text), settings_.limits.json());
    if (message && message->kind != Message::Kind::Request) {
      (void)(*session)->link->receive(std::move(message->text));
      continue;
    }
    Result<std::shared_ptr<Outlet>> outlet = std::unexpected(Error{});
    if (message) outlet = (*session)->link->ask(*message, request);
    if (!outlet) {
      outlet = std::make_shared<Outlet>(executor_, 0, OutletLimits{});
      (*outlet)->put(
          error_text(message ? message->id : "", kInvalidRequest, "this is not a request"), true);
    }
    outlets.push_back(std::move(*outlet));
  }
  if (outlets.empty()) {
    co_await exchange.respond({.status = 202});
    co_return;
  }
  const ResponseStyle style{};
  bool there = co_await begin_stream(exchange, **session, *outlets.front(), 0, style);
  for (const auto& outlet : outlets) {
    const std::uint64_t reader = outlet->take_over();
    while (there && outlet->is_read_by(reader) && !(outlet->closed() && !outlet->waits())) {
      const auto event = co_await outlet->next(reader, settings_.front.keep_alive);
      there = event ? co_await write_event(exchange, *outlet, *event, false)
                    : co_await exchange.write(":\n\n");
      if (event && event->last) break;
    }
  }
}

// Serves the session's own stream, or a lost stream that a client resumes.
Async<void> HttpFront::get(net::ServerExchange& exchange, std::string principal) {
  const net::ServerRequest& request = exchange.request();
  Result<SessionPtr> found = session_of(request, principal);
  if (!found) {
    co_await exchange.respond(refusal(found.error(), {}));
    co_return;
  }
  const SessionPtr session = std::move(*found);
  if (const auto refused = refuse_legacy(request)) {
    co_await exchange.respond(refusal(*refused, {}));
    co_return;
  }
  if (!accepts(request, kEventStream)) {
    co_await exchange.respond(ServerResponse::text(406, "this is a stream of events\n"));
    co_return;
  }
  std::shared_ptr<Outlet> outlet = session->link->standing();
  const auto last = request.header("last-event-id");
  if (last) {
    const std::optional<EventPlace> place = place_of(*last);
    outlet = place ? session->link->stream(place->stream) : nullptr;
    // Messages sent under another policy are not replayed. The session's own stream continues.
    const bool same = session->policy == parts_.policy();
    if (!outlet || (!same && outlet != session->link->standing())) {
      co_await exchange.respond(
          ServerResponse::json(400, error_text({}, kInvalidRequest, "this stream is gone")));
      co_return;
    }
    outlet->take_over();  // the client has lost the connection to an earlier reader
    if (same) outlet->rewind(place->delivered);
  }
  const bool standing = outlet == session->link->standing();
  if (standing && session->listeners > 0 && !last) {
    co_await exchange.respond(
        ServerResponse::json(409, error_text({}, kInvalidRequest, "the stream is being read")));
    co_return;
  }
  const Use use(*this, session);
  if (standing) ++session->listeners;
  ResponseStyle style{.numbered = true};
  if (co_await begin_stream(exchange, *session, *outlet, outlet->delivered(), style)) {
    co_await answer(exchange, session, outlet, std::move(style));
  }
  if (standing) --session->listeners;
}

Async<void> HttpFront::end_session(net::ServerExchange& exchange, std::string principal) {
  Result<SessionPtr> session = session_of(exchange.request(), principal);
  if (!session) {
    co_await exchange.respond(refusal(session.error(), {}));
    co_return;
  }
  (*session)->conversation->stop();
  forget(**session);
  co_await exchange.respond({.status = 204});
}

Async<void> HttpFront::pass_on(net::ServerExchange& exchange, SessionPtr session, Message message,
                               ResponseStyle style) {
  const Use use(*this, session);
  const std::string id = style.id = message.id;
  if (message.kind != Message::Kind::Request) {
    const Result<void> taken = session->link->receive(std::move(message.text));
    co_await exchange.respond(taken ? ServerResponse{.status = 202} : refusal(taken.error(), id));
    co_return;
  }
  const Result<std::shared_ptr<Outlet>> outlet =
      session->link->ask(std::move(message), exchange.request());
  if (!outlet) {
    co_await exchange.respond(refusal(outlet.error(), id));
    co_return;
  }
  co_await answer(exchange, session, *outlet, style);
  // A stateless client cancels by closing the stream; a client with a session sends a notification.
  if (style.modern && !(*outlet)->ended()) session->link->cancel(**outlet);
}

}  // namespace sallyport::mcp
