#include "mcp/server/remote_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/upstream.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"
#include "mcp/server/tool_definition.h"

namespace sallyport::mcp {

namespace {

using namespace std::chrono_literals;

// Calls have the deadline of their policy. This deadline is for requests without a caller.
constexpr std::chrono::milliseconds kLongest = 24h;
constexpr std::size_t kRefusalBytes = 1u << 20;
constexpr int kLogins = 3;   // of one request: renewed, logged in, with more rights
constexpr int kResumes = 5;  // in a row, without a message of the server
constexpr std::string_view kBoth = "application/json, text/event-stream";

bool is_stateless(const Message& request) {
  return find(request.params_text(), {"_meta", kMetaVersion}).has_value();
}

Response malformed(std::string bytes) {
  return {.malformed = std::move(bytes)};
}

Response broken(const Error& error) {
  return {.error = error};
}

Response login_required(const Error& error) {
  return {.error = {ErrorCode::Unavailable, error.message, {}, std::string(kLoginRequired)}};
}

// The response for a request that the server refused by HTTP.
Response refusal(std::uint64_t id, unsigned status, const std::string& body,
                 const JsonLimits& limits) {
  const Result<Message> read = Message::read(body, limits);
  const bool ours = read && (read->id.empty() || read->id == std::to_string(id));
  if (ours && read->kind == Message::Kind::Response && read->is_error()) {
    Result<Message> answer = Message::read(read->with_id(std::to_string(id)), limits);
    if (answer) return {.message = std::move(*answer)};
  }
  if (status == 401 || status == 403) {
    return failed(
        fmt::format("the server refuses us (HTTP {}); name a variable that holds a token "
                    "for it with `bearer_env` (`--bearer-env`)",
                    status));
  }
  return failed(fmt::format("the server answered with HTTP {}", status));
}

}  // namespace

RemoteServer::Talk::Talk(std::uint64_t number, Message message, std::size_t limit)
    : id(number), request(std::move(message)), modern(is_stateless(request)), events(limit) {}

// A request that was not written whole was not executed.
Response RemoteServer::lost(Error error, const net::HttpExchange& http) {
  if (!http.written()) error.cause = core::kNotBegun;
  return {.error = std::move(error)};
}

Result<ServerMaker> RemoteServer::maker(Place place) {
  if (!place.url.tls && !place.url.is_loopback() && !place.allow_plain) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` would be reached without encryption; use `https`, or say "
                            "`allow_http` (`--allow-http`) where the network between is trusted",
                            place.url.text()));
  }
  return [place = std::move(place)](Parts parts) {
    return std::make_unique<RemoteServer>(std::move(parts), place);
  };
}

RemoteServer::RemoteServer(Parts parts, Place place)
    : parts_(std::move(parts)),
      limits_(parts_.limits),
      place_(std::move(place)),
      client_(net::HttpClient::open(parts_.executor,
                                    {.url = place_.url, .allow_plain = place_.allow_plain})),
      tasks_(parts_.executor, parts_.log),
      pending_(limits_.requests, parts_.log) {}

Task<void> RemoteServer::run() {
  if (!client_) co_return std::unexpected(client_.error());
  up_ = true;
  parts_.listener.server_started(false);
  while (!stopping_) co_await bell_.wait("stop", 1min, {});
  up_ = false;
  for (const auto& [id, talk] : talks_) {
    if (talk->http) talk->http->cancel();
  }
  tasks_.cancel();
  (void)co_await tasks_.join(limits_.patience);
  co_await end_session();
  parts_.listener.server_ended("the server is not used any more");
  co_await pending_.fail_all("the server is not used any more");
  co_return Result<void>{};
}

Async<void> RemoteServer::stop() {
  stopping_ = true;
  bell_.ring("stop");
  co_return;
}

void RemoteServer::ready() {
  was_ready_ = true;
  is_ready_ = true;
  failures_ = 0;
  bell_.ring("ready");
}

Result<std::uint64_t> RemoteServer::request(const Compose& compose,
                                            std::shared_ptr<Waiter> waiter) {
  if (!up_) return fail(ErrorCode::Unavailable, "the server is not in use");
  SALLYPORT_TRY(const std::uint64_t id, pending_.next_id());
  SALLYPORT_TRY(Message message, Message::read(compose(std::to_string(id)), limits_.json()));
  pending_.add(id, std::move(waiter));
  auto talk = std::make_shared<Talk>(id, std::move(message), limits_.frame_bytes);
  talks_[id] = talk;
  tasks_.start(converse(std::move(talk)));
  return id;
}

void RemoteServer::abandon(std::uint64_t id, std::string_view reason) {
  if (!pending_.abandon(id)) return;
  pending_.forget(id);  // its connection is closed, so no answer can come
  const auto found = talks_.find(id);
  if (found == talks_.end()) return;
  const Talk& talk = *found->second;
  if (!talk.modern && talk.request.method != "initialize") send(cancelled_text(id, reason));
  if (talk.http) talk.http->cancel();
}

net::HttpHeaders RemoteServer::headers_for(const Message& message, bool modern) const {
  // No session headers for a stateless server, or for `initialize`.
  const bool plain = modern || message.method == "initialize";
  net::HttpHeaders headers = plain ? plain_headers(kBoth) : session_headers(kBoth);
  headers.emplace_back("Content-Type", "application/json");
  if (!modern) return headers;
  const json::object* const params = message.params();
  const auto name = params ? text_in(*params, "name") : std::nullopt;
  const auto found = message.method == "tools/call" && name
                         ? param_headers_.find(std::string(*name))
                         : param_headers_.end();
  const std::vector<ParamHeader> none;
  for (auto& header :
       modern_headers(message, found == param_headers_.end() ? none : found->second)) {
    headers.push_back(std::move(header));
  }
  return headers;
}

Async<void> RemoteServer::converse(std::shared_ptr<Talk> talk) {
  Response reply;
  if (!old_) reply = co_await answer_to(*talk);
  if (old_) {
    co_await post_old(talk);
    talks_.erase(talk->id);
    co_return;
  }
  if (talk->request.method == "subscriptions/listen") reply = co_await listen_on(*talk, reply);
  if (talk->request.method == "initialize") {
    initializing_ = false;
    if (!reply.message && was_ready_ && !is_ready_) tasks_.start(open_session_later());
  }
  co_await pending_.settle(talk->id, std::move(reply));
  if (talk->streams) co_await read_rest(*talk);
  talks_.erase(talk->id);
}

// Repeats a subscription when its stream breaks, until the server or the client ends it.
Async<Response> RemoteServer::listen_on(Talk& talk, Response reply) {
  auto wait = limits_.first_backoff;
  while (talk.streams && !reply.message && pending_.contains(talk.id) && !stopping_) {
    co_await bell_.wait("stop", wait, {});
    const auto begin = std::chrono::steady_clock::now();
    talk.events = net::SseParser(limits_.frame_bytes);
    reply = co_await answer_to(talk);
    const bool lasted = std::chrono::steady_clock::now() - begin > limits_.healthy_after;
    wait = lasted ? limits_.first_backoff : std::min(2 * wait, limits_.longest_backoff);
  }
  co_return reply;
}

Async<Response> RemoteServer::answer_to(Talk& talk) {
  const bool opens = talk.modern || talk.request.method == "initialize";
  if (!opens) co_await wait_initialized();
  int logins = 0;
  for (bool again = false;;) {
    const std::string token = co_await token_to_send();
    if (!pending_.contains(talk.id)) co_return failed("cancelled");
    const std::uint64_t session = session_.number;
    talk.http = (*client_)->exchange();
    net::HttpRequest post{.headers = headers_for(talk.request, talk.modern),
                          .body = talk.request.text};
    Result<net::HttpHead> head = co_await talk.http->send(std::move(post), kLongest);
    if (!head) co_return lost(head.error(), *talk.http);
    if (head->status < 400) co_return co_await read_answer(talk, std::move(*head));
    const std::string body =
        (co_await talk.http->read_all(kRefusalBytes, limits_.start)).value_or("");
    if (asks_for_login(*head) && logins++ < kLogins) {
      const Result<void> again_in = co_await log_in_again(std::move(*head), token);
      if (!again_in) co_return login_required(again_in.error());
      continue;
    }
    if (may_be_old(talk, head->status)) co_await find_old_stream();
    if (opens || std::exchange(again, true) || !has_lost_session(talk, head->status, body)) {
      co_return refusal(talk.id, head->status, body, limits_.json());
    }
    open_session_again(session);
    if (!co_await session_ready()) {
      co_return broken({ErrorCode::Unavailable,
                        "the session with the server has ended, and no other one can be opened",
                        {},
                        core::kNotBegun});
    }
  }
}

Async<Response> RemoteServer::read_answer(Talk& talk, net::HttpHead head) {
  if (head.content_type() == "text/event-stream") {
    talk.streams = true;
    Response reply = co_await read_stream(talk);
    co_return apply_answer(talk, head, std::move(reply));
  }
  Result<std::string> body = co_await talk.http->read_all(limits_.frame_bytes, kLongest);
  if (!body && body.error().code == ErrorCode::Exhausted) co_return malformed(body.error().message);
  if (!body) co_return broken(body.error());
  if (body->empty()) {
    co_return failed(fmt::format("the server gave no answer (HTTP {})", head.status));
  }
  std::optional<Response> reply = co_await take_text(talk, *body);
  co_return apply_answer(talk, head, reply ? std::move(*reply) : malformed(std::move(*body)));
}

Async<Response> RemoteServer::read_stream(Talk& talk) {
  std::string last;
  for (int silent = 0; silent < kResumes; ++silent) {
    while (true) {
      if (std::optional<Response> reply = co_await read_events(talk)) co_return std::move(*reply);
      const Result<std::string> bytes = co_await talk.http->read(kLongest);
      if (bytes && !bytes->empty()) {
        talk.events.feed(*bytes);
        continue;
      }
      if (!bytes && bytes.error().code == ErrorCode::Cancelled) co_return broken(bytes.error());
      break;
    }
    if (talk.events.last_id() != last) silent = 0;
    last = talk.events.last_id();
    if (!co_await resume(talk)) break;
  }
  co_return failed("the server ended its stream before it answered");
}

// A server of sessions may close a stream early and continue it on request.
Async<bool> RemoteServer::resume(Talk& talk) {
  if (talk.modern || talk.events.last_id().empty() || session_.version.empty()) co_return false;
  co_await bell_.wait("stop", talk.events.retry().value_or(1s), {});
  if (stopping_ || !pending_.contains(talk.id)) co_return false;
  net::HttpRequest get{.method = "GET", .headers = session_headers("text/event-stream")};
  get.headers.emplace_back("Last-Event-ID", header_value(talk.events.last_id()));
  talk.http = (*client_)->exchange();
  const Result<net::HttpHead> head = co_await talk.http->send(std::move(get), limits_.start);
  co_return head && head->status == 200 && head->content_type() == "text/event-stream";
}

// Reads messages after the answer too, so that the connection can be reused.
Async<void> RemoteServer::read_rest(Talk& talk) {
  const auto end = std::chrono::steady_clock::now() + limits_.patience;
  while (std::chrono::steady_clock::now() < end) {
    if (const std::optional<Response> second = co_await read_events(talk)) {
      pending_.complain("an answer to no open request", std::to_string(talk.id));
    }
    const Result<std::string> bytes = co_await talk.http->read(limits_.patience);
    if (!bytes || bytes->empty()) co_return;
    talk.events.feed(*bytes);
  }
}

Async<std::optional<Response>> RemoteServer::read_events(Talk& talk) {
  while (net::SseEvent* const event = talk.events.next()) {
    if (event->data.empty()) continue;
    if (event->too_long) {
      if (id_in_malformed(event->data, event->tail) == std::to_string(talk.id)) {
        co_return malformed(std::move(event->data));
      }
      pending_.complain("a message that is too long", event->data);
      continue;
    }
    std::optional<Response> reply = co_await take_text(talk, std::move(event->data));
    if (reply) co_return reply;
  }
  co_return std::nullopt;
}

// Returns the answer to this request, if the text holds it. Sessions of one revision have batches.
Async<std::optional<Response>> RemoteServer::take_text(const Talk& talk, std::string text) {
  const std::vector<std::string> batch =
      talk.modern ? std::vector<std::string>() : batch_messages(text, limits_.json());
  if (batch.empty()) co_return co_await take_message(talk, std::move(text));
  std::optional<Response> reply;
  for (const std::string& message : batch) {
    std::optional<Response> taken = co_await take_message(talk, message);
    if (taken && !reply) reply = std::move(taken);
  }
  co_return reply;
}

// Drops answers to other requests.
Async<std::optional<Response>> RemoteServer::take_message(const Talk& talk, std::string text) {
  Result<Message> message = Message::read(text, limits_.json());
  if (!message) {
    if (id_in_malformed(text, text) == std::to_string(talk.id))
      co_return malformed(std::move(text));
    pending_.complain("something that is not a message", text);
    co_return std::nullopt;
  }
  if (message->kind == Message::Kind::Response) {
    if (message->id == std::to_string(talk.id)) co_return Response{.message = std::move(*message)};
    pending_.complain("an answer to no open request", message->id);
  } else if (message->kind == Message::Kind::Notification) {
    co_await parts_.listener.on_server_notification(std::move(*message));
  } else if (talk.modern) {
    pending_.complain("a question, which a stateless server has no way to ask", message->method);
  } else {
    co_await parts_.listener.on_server_request(std::move(*message));
  }
  co_return std::nullopt;
}

// Stores from an answer what later requests need.
Response RemoteServer::apply_answer(const Talk& talk, const net::HttpHead& head, Response reply) {
  if (!reply.message || reply.message->is_error()) return reply;
  if (talk.modern) {
    stateless_ = true;
    if (talk.request.method == "tools/list") {
      reply.message = usable_tools(std::move(*reply.message));
    }
    return reply;
  }
  if (talk.request.method != "initialize") return reply;
  const std::string_view id = head.header("Mcp-Session-Id");
  if (header_value(id) != id)
    return failed("the server names its session in a way that is not allowed");
  const json::object* const result = object_in(reply.message->object(), "result");
  const auto version = result ? text_in(*result, "protocolVersion") : std::nullopt;
  session_ = {++last_session_, std::string(id), std::string(version.value_or(kLegacyVersion))};
  stateless_ = false;
  return reply;
}

// Stores which arguments go into headers, and removes tools that ask for forbidden headers.
Message RemoteServer::usable_tools(Message answer) {
  const json::object* const result = object_in(answer.object(), "result");
  const json::value* const tools = result ? result->if_contains("tools") : nullptr;
  if (tools == nullptr || !tools->is_array()) return answer;
  std::set<std::string> unusable;
  for (const json::value& tool : tools->get_array()) {
    const auto name = tool.is_object() ? text_in(tool.get_object(), "name") : std::nullopt;
    if (!name) continue;
    auto headers = param_headers(tool.get_object());
    if (!headers) {
      unusable.insert(std::string(*name));
      parts_.log(fmt::format("the tool `{}` asks for forbidden headers and is left out", *name));
    } else if (param_headers_.size() < limits_.tools ||
               param_headers_.contains(std::string(*name))) {
      param_headers_[std::string(*name)] = std::move(*headers);
    }
  }
  if (unusable.empty()) return answer;
  const std::string kept = without_tools(answer.result_text(), unusable);
  (void)answer.replace("result", kept, limits_.json());
  return answer;
}

}  // namespace sallyport::mcp
