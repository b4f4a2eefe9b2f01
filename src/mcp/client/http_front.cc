#include "mcp/client/http_front.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"
#include "mcp/message/translation.h"
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

bool is_json(const net::ServerRequest& head) {
  const auto type = head.header("content-type");
  return type && type->substr(0, type->find(';')).find("application/json") == 0;
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
  if (!principal) co_return no_entry(head, principal.error());
  head.principal = std::move(*principal);
  if (head.method != "POST" && head.method != "GET" && head.method != "DELETE") {
    co_return not_allowed();
  }
  if (head.method == "POST" && !is_json(head)) {
    co_return ServerResponse::text(415, "a message is `application/json`\n");
  }
  co_return std::nullopt;
}

// A token that cannot be checked may be a good one: its owner keeps it and comes again.
ServerResponse HttpFront::no_entry(const net::ServerRequest& head, const Error& why) const {
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
  // Streams are closed here, not cancelled by a message.
  if (message.kind == Message::Kind::Notification) {
    co_await exchange.respond({.status = 202});
    co_return;
  }
  Result<SessionPtr> session = shared_session(principal);
  if (!session) {
    co_await exchange.respond(refusal(session.error(), message.id));
    co_return;
  }
  Manner manner{.modern = true, .streams = accepts(exchange.request(), kEventStream)};
  co_await pass_on(exchange, std::move(*session), std::move(message), std::move(manner));
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
  Manner manner{.streams = accepts(exchange.request(), kEventStream), .id = message.id};
  manner.headers.emplace_back(kSessionHeader, id);
  Result<std::shared_ptr<Outlet>> outlet =
      session->link->ask(std::move(message), exchange.request());
  std::optional<std::string> said;
  if (outlet) {
    said = co_await answer(exchange, session, *outlet, std::move(manner));
  } else {
    co_await exchange.respond(refusal(outlet.error(), {}));
  }
  const auto version = said ? find(*said, {"result", "protocolVersion"}) : std::nullopt;
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
    Manner manner{.numbered = true, .streams = accepts(exchange.request(), kEventStream)};
    co_await pass_on(exchange, std::move(*session), std::move(message), std::move(manner));
  }
}

// Only one revision has them. Each message is one of its own, and their answers share a stream.
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
      (void)(*session)->link->tell(std::move(message->text));
      continue;
    }
    Result<std::shared_ptr<Outlet>> outlet = std::unexpected(Error{});
    if (message) outlet = (*session)->link->ask(*message, request);
    if (!outlet) {
      outlet = std::make_shared<Outlet>(executor_, 0, OutletLimits{});
      (*outlet)->put(error_text(message ? message->id : "", kInvalidRequest, "this is no request"),
                     true);
    }
    outlets.push_back(std::move(*outlet));
  }
  if (outlets.empty()) {
    co_await exchange.respond({.status = 202});
    co_return;
  }
  const Manner manner{};
  bool there = co_await begin_stream(exchange, **session, *outlets.front(), manner);
  for (const auto& outlet : outlets) {
    while (there && !(outlet->closed() && !outlet->waits())) {
      const auto event = co_await outlet->next(settings_.front.keep_alive);
      there = event ? co_await write_event(exchange, *outlet, *event, false)
                    : co_await exchange.write(":\n\n");
      if (event && event->last) break;
    }
  }
}

// The stream of a session's own, or one whose client lost it.
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
  if (const auto last = request.header("last-event-id")) {
    unsigned long long number = 0;
    unsigned long long heard = 0;
    const bool read = std::sscanf(std::string(*last).c_str(), "%llu-%llu", &number, &heard) == 2;
    outlet = read ? session->link->stream(number) : nullptr;
    // What was said under another policy is not said again; a session's own stream goes on.
    const bool same = session->policy == parts_.policy();
    if (!outlet || (!same && outlet != session->link->standing())) {
      co_await exchange.respond(
          ServerResponse::json(404, error_text({}, kInvalidRequest, "this stream is gone")));
      co_return;
    }
    if (same) outlet->rewind(heard);
  }
  const bool standing = outlet == session->link->standing();
  if (standing && session->listened) {
    co_await exchange.respond(
        ServerResponse::json(409, error_text({}, kInvalidRequest, "the stream is being read")));
    co_return;
  }
  const Use use(*this, session);
  if (standing) session->listened = true;
  Manner manner{.numbered = true};
  if (co_await begin_stream(exchange, *session, *outlet, manner)) {
    co_await answer(exchange, session, outlet, std::move(manner));
  }
  if (standing) session->listened = false;
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
                               Manner manner) {
  const Use use(*this, session);
  const std::string id = manner.id = message.id;
  if (message.kind != Message::Kind::Request) {
    const Result<void> taken = session->link->tell(std::move(message.text));
    co_await exchange.respond(taken ? ServerResponse{.status = 202} : refusal(taken.error(), id));
    co_return;
  }
  const Result<std::shared_ptr<Outlet>> outlet =
      session->link->ask(std::move(message), exchange.request());
  if (!outlet) {
    co_await exchange.respond(refusal(outlet.error(), id));
    co_return;
  }
  co_await answer(exchange, session, *outlet, manner);
  // Closing is how a stateless client cancels; one of sessions says so.
  if (manner.modern && !(*outlet)->ended()) session->link->cancel(**outlet);
}

}  // namespace sallyport::mcp
