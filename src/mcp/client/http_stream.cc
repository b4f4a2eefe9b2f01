// Answers over HTTP: as one document, or as a stream of events.
#include <fmt/format.h>

#include <algorithm>

#include "mcp/client/http_front.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

using net::ServerResponse;

namespace {

unsigned status_of(const std::string& answer) {
  const auto code = find(answer, {"error", "code"});
  return code ? status_of_error(std::strtoll(std::string(*code).c_str(), nullptr, 10)) : 200;
}

}  // namespace

// Writes messages until the last one, and returns that. If the answer is the first message, it is
// sent without a stream.
Async<std::optional<std::string>> HttpFront::answer(net::ServerExchange& exchange,
                                                    SessionPtr session,
                                                    std::shared_ptr<Outlet> outlet,
                                                    ResponseStyle style) {
  exchange.on_gone([outlet] { outlet->wake(); });
  const std::uint64_t reader = outlet->take_over();
  const auto put_back = [&](const Outlet::Event& event) {
    if (outlet->is_read_by(reader)) outlet->rewind(event.number - 1);
  };
  bool streaming = exchange.streaming();
  while (!exchange.gone()) {
    const std::optional<Outlet::Event> event = co_await outlet->next(
        reader, streaming ? settings_.front.keep_alive : settings_.front.answer_wait);
    if (exchange.gone() || !outlet->is_read_by(reader)) {
      if (event) put_back(*event);
      break;
    }
    if (!event && outlet->done()) {
      co_await end_without_answer(exchange, *session, *outlet, style);
      break;
    }
    if (event && event->last && !streaming) {
      ServerResponse response =
          ServerResponse::json(style.modern ? status_of(event->text) : 200, event->text);
      response.headers.insert(response.headers.end(), style.headers.begin(), style.headers.end());
      co_await exchange.respond(std::move(response));
      co_return event->text;
    }
    // A client that reads no streams gets only the answer.
    if (!style.streams) continue;
    const std::uint64_t delivered = event ? event->number - 1 : outlet->delivered();
    if (!streaming && !co_await begin_stream(exchange, *session, *outlet, delivered, style)) {
      if (event) put_back(*event);
      break;
    }
    streaming = true;
    if (!event) {
      if (!co_await exchange.write(":\n\n")) break;
      continue;
    }
    if (!co_await write_event(exchange, *outlet, *event, style.numbered)) {
      put_back(*event);
      break;
    }
    if (event->last) co_return event->text;
  }
  co_return std::nullopt;
}

// No answer comes: the session has ended, the request was cancelled, or a client resumes a stream
// whose answer it has.
Async<void> HttpFront::end_without_answer(net::ServerExchange& exchange, const Session& session,
                                          const Outlet& outlet, const ResponseStyle& style) {
  const bool broken = outlet.closed() && session.link->broken();
  const std::string why = error_text(style.id, kInternalError, "the session has ended");
  if (!exchange.streaming() && broken) {
    co_await exchange.respond(ServerResponse::json(503, why));
  } else if (!exchange.streaming()) {
    co_await begin_stream(exchange, session, outlet, outlet.delivered(), style);
  } else if (broken && !style.id.empty()) {
    co_await write_event(exchange, outlet, {.text = why, .last = true}, false);
  }
}

Async<bool> HttpFront::begin_stream(net::ServerExchange& exchange, const Session& session,
                                    const Outlet& outlet, std::uint64_t delivered,
                                    const ResponseStyle& style) {
  ServerResponse head{.headers = style.headers};
  head.headers.emplace_back("content-type", std::string(kEventStream));
  head.headers.emplace_back("cache-control", "no-cache, no-transform");
  head.headers.emplace_back("x-accel-buffering", "no");
  if (!co_await exchange.begin(std::move(head))) co_return false;
  // An event without data gives the client an id to reconnect with.
  if (!style.numbered || session.version != kLegacyVersion) co_return true;
  co_return co_await exchange.write(
      fmt::format("id: {}-{}\ndata: \n\n", outlet.number(), delivered));
}

Async<bool> HttpFront::write_event(net::ServerExchange& exchange, const Outlet& outlet,
                                   const Outlet::Event& event, bool numbered) {
  std::string data = event.text;
  // Line ends in JSON are only whitespace.
  std::ranges::replace_if(data, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::string out = "event: message\n";
  if (numbered) out += fmt::format("id: {}-{}\n", outlet.number(), event.number);
  return exchange.write(out + "data: " + data + "\n\n");
}

}  // namespace sallyport::mcp
