// How answers go out over HTTP: whole, or as a stream of events.
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

// Writes what comes until its last message, which is returned. An answer that is there before
// anything else needs no stream.
Async<std::optional<std::string>> HttpFront::answer(net::ServerExchange& exchange,
                                                    SessionPtr session,
                                                    std::shared_ptr<Outlet> outlet, Manner manner) {
  exchange.on_gone([outlet] { outlet->wake(); });
  bool streaming = exchange.streaming();
  while (!exchange.gone()) {
    const std::optional<Outlet::Event> event =
        co_await outlet->next(streaming ? settings_.front.keep_alive : settings_.front.silence);
    if (exchange.gone()) {
      if (event) outlet->rewind(event->number - 1);
      break;
    }
    if (!event && outlet->closed()) {
      if (!streaming && session->link->broken()) {
        co_await exchange.respond(ServerResponse::json(
            503, error_text(manner.id, kInternalError, "the session has ended")));
      } else if (!streaming) {
        // It was cancelled: nothing will be said.
        co_await begin_stream(exchange, *session, *outlet, manner);
      }
      break;
    }
    if (event && event->last && !streaming) {
      ServerResponse response =
          ServerResponse::json(manner.modern ? status_of(event->text) : 200, event->text);
      response.headers.insert(response.headers.end(), manner.headers.begin(), manner.headers.end());
      co_await exchange.respond(std::move(response));
      co_return event->text;
    }
    // A client that reads no streams hears the answer and nothing before it.
    if (!manner.streams) continue;
    if (!streaming && !co_await begin_stream(exchange, *session, *outlet, manner)) break;
    streaming = true;
    if (!event) {
      if (!co_await exchange.write(":\n\n")) break;
      continue;
    }
    if (!co_await write_event(exchange, *outlet, *event, manner.numbered)) {
      outlet->rewind(event->number - 1);
      break;
    }
    if (event->last) co_return event->text;
  }
  co_return std::nullopt;
}

Async<bool> HttpFront::begin_stream(net::ServerExchange& exchange, const Session& session,
                                    const Outlet& outlet, const Manner& manner) {
  ServerResponse head{.headers = manner.headers};
  head.headers.emplace_back("content-type", std::string(kEventStream));
  head.headers.emplace_back("cache-control", "no-cache, no-transform");
  head.headers.emplace_back("x-accel-buffering", "no");
  if (!co_await exchange.begin(std::move(head))) co_return false;
  // An event without data gives the client an id to come back with.
  if (!manner.numbered || session.version != kLegacyVersion) co_return true;
  co_return co_await exchange.write(
      fmt::format("id: {}-{}\ndata: \n\n", outlet.number(), outlet.heard()));
}

Async<bool> HttpFront::write_event(net::ServerExchange& exchange, const Outlet& outlet,
                                   const Outlet::Event& event, bool numbered) {
  std::string data = event.text;
  // Line ends in JSON are blanks between its parts.
  std::ranges::replace_if(data, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::string out = "event: message\n";
  if (numbered) out += fmt::format("id: {}-{}\n", outlet.number(), event.number);
  return exchange.write(out + "data: " + data + "\n\n");
}

}  // namespace sallyport::mcp
