#include "mcp/client/request_relay.h"

#include <algorithm>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

// Clients give up on a server that is silent during discovery, even if it only starts slowly. All
// capabilities are advertised then, without caching (`ttlMs` is 0). A request that the server does
// not support is refused later.
constexpr std::chrono::milliseconds kLongestDiscovery{5'000};
constexpr std::string_view kStillStarting =
    R"({"serverInfo":{"name":"sallyport","version":"1"},"capabilities":{"tools":{"listChanged":true},)"
    R"("prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},)"
    R"("completions":{},"logging":{}}})";

bool is_subscription(std::string_view method) {
  return method == "resources/subscribe" || method == "resources/unsubscribe";
}

}  // namespace

class RequestRelay::Waiting final : public Waiter {
 public:
  Waiting(RequestRelay& relay, std::string client_id, std::string method)
      : relay_(relay), client_id_(std::move(client_id)), method_(std::move(method)) {}
  Async<void> answered(Response reply) override {
    return relay_.answered(client_id_, method_, std::move(reply));
  }

 private:
  RequestRelay& relay_;
  std::string client_id_;
  std::string method_;
};

// A subscription, which outlives a process of its server.
class RequestRelay::Subscribed final : public Waiter {
 public:
  Subscribed(RequestRelay& relay, Message request) : relay_(relay), request_(std::move(request)) {}
  Async<void> answered(Response reply) override {
    return relay_.unsubscribed(std::move(request_), std::move(reply));
  }

 private:
  RequestRelay& relay_;
  Message request_;
};

std::optional<net::Quota::Share> RequestRelay::room_for(const Message& request) {
  net::Quota::Share held = context_.parts.held.share_of(context_.settings.agent_id);
  if (context_.client.requests().size() < context_.settings.limits.requests &&
      held.grow_to(request.weight())) {
    return held;
  }
  context_.client.refuse(request, kTooMuch, "too much waits; try again later");
  return std::nullopt;
}

void RequestRelay::pass(Message request) {
  ClientSession& client = context_.client;
  if (!context_.server.opening().ready()) {
    auto held = room_for(request);
    if (!held) return;
    client.begin(request.id);
    context_.tasks.start(pass_later(std::move(request), std::move(*held)));
    return;
  }
  OpenRequest& open = client.begin(request.id);
  const bool listens = request.method == "subscriptions/listen";
  const auto sent = listens ? subscribe(request)
                            : context_.server.link().request(
                                  [text = context_.server.text_for(request)](std::string_view id) {
                                    return with_member(text, "id", id);
                                  },
                                  std::make_shared<Waiting>(*this, request.id, request.method));
  if (!sent) {
    client.end(request.id);
    return client.refuse(request, kInternalError, sent.error().message);
  }
  open.server_id = *sent;
  open.token = progress_token(request);
  if (!listens) return;
  open.endless = true;
  open.gets_tool_changes =
      offers(context_.server.opening().description(), "tools") &&
      find(request.text, {"params", "notifications", "toolsListChanged"}) == "true";
  (void)tasks_.listen(request);  // granted with what the server grants
}

Result<std::uint64_t> RequestRelay::subscribe(const Message& request) {
  const std::string text = tasks_.for_server(context_.server.text_for(request));
  return context_.server.link().request(
      [&](std::string_view id) { return with_member(text, "id", id); },
      std::make_shared<Subscribed>(*this, request));
}

// If the server has ended, its next process gets the subscription. One that was not acknowledged
// gets an error, because it may be what ended the server.
Async<void> RequestRelay::unsubscribed(Message request, Response reply) {
  const auto found = context_.client.requests().find(request.id);
  const bool lost = !reply.message && !reply.malformed && !context_.server.opening().ready();
  if (!lost || found == context_.client.requests().end() || !found->second.acknowledged) {
    co_return co_await answered(request.id, request.method, std::move(reply));
  }
  found->second.acknowledged = false;
  context_.tasks.start(subscribe_again(std::move(request), found->second.server_id));
}

Async<void> RequestRelay::subscribe_again(Message request, std::uint64_t before) {
  const auto ready =
      co_await context_.server.opening().wait_ready(context_.settings.limits.opening);
  const auto found = context_.client.requests().find(request.id);
  // It was cancelled meanwhile.
  if (found == context_.client.requests().end() || found->second.server_id != before) co_return;
  const Result<std::uint64_t> sent = ready ? subscribe(request) : std::unexpected(ready.error());
  if (sent) {
    found->second.server_id = *sent;
    co_return;
  }
  context_.client.end(request.id);
  context_.client.refuse(request, kInternalError, sent.error().message);
}

Async<void> RequestRelay::pass_later(Message request, net::Quota::Share /*held*/) {
  const std::chrono::milliseconds longest = context_.settings.limits.start;
  const bool discovers =
      request.method == "server/discover" && context_.client.era() == Era::Modern;
  const Result<void> ready = co_await context_.server.opening().wait_ready(
      discovers ? std::min(kLongestDiscovery, longest) : longest);
  // The request was cancelled meanwhile.
  if (!context_.client.end(request.id)) co_return;
  if (ready) co_return is_answered_here(request) ? answer_here(request) : pass(std::move(request));
  if (discovers && !context_.server.opening().hopeless()) {
    context_.client.send(result_text(request.id, bridge_.discovery(kStillStarting)));
    co_return;
  }
  context_.client.refuse(request, kInternalError, ready.error().message);
}

Async<void> RequestRelay::list_then_pass(Message request) {
  co_await context_.server.tools().refresh({});
  if (context_.client.end(request.id)) pass(std::move(request));
}

void RequestRelay::cancel(const std::string& client_id, std::string_view reason) {
  const auto found = context_.client.requests().find(client_id);
  if (found == context_.client.requests().end()) return;
  if (found->second.listening) return listeners_.unlisten(client_id);
  context_.server.link().abandon(found->second.server_id, reason);
  context_.client.end(client_id);
}

Async<void> RequestRelay::answered(std::string client_id, std::string method, Response reply) {
  const bool wanted = context_.client.end(client_id);
  context_.bell.ring("ended");
  if (!wanted) co_return;
  if (!reply.message) {
    context_.client.send(
        error_text(client_id, kInternalError,
                   reply.malformed ? "upstream sent malformed output" : reply.error.message));
    co_return;
  }
  Result<Message> answer = co_await shown(method, std::move(*reply.message));
  if (!answer) {
    context_.client.send(error_text(client_id, kDenied, answer.error().message));
  } else if (method == "subscriptions/listen" && context_.client.era() == Era::Modern &&
             !answer->is_error()) {
    context_.client.end_subscription(client_id, answer->result_text());
  } else {
    context_.client.send(
        with_member(bridge_.translated(method, std::move(answer->text)), "id", client_id));
  }
  co_await context_.client.room();
}

// The answer as the client may see it.
Task<Message> RequestRelay::shown(const std::string& method, Message answer) {
  if (method == "tasks/list" && object_in(answer.object(), "result") != nullptr) {
    context_.door.note_trimmed(Side::Server, answer, method);
    const std::string kept = context_.owners.without_foreign(answer.result_text());
    if (!kept.empty()) {
      SALLYPORT_CO_CHECK_OK(answer.replace("result", kept, context_.settings.limits.json()));
    }
    answer.dropped = 0;  // counted above
  }
  co_return co_await context_.server.tools().shown(method, std::move(answer));
}

bool RequestRelay::is_answered_here(const Message& request) const {
  if (request.method == "subscriptions/listen" && context_.client.era() == Era::Modern) {
    return wants_our_tasks_alone(request) || context_.server.opening().era() == Era::Legacy;
  }
  const bool tasks = request.method.starts_with("tasks/");
  if (context_.bridges(Era::Legacy, Era::Modern)) {
    return tasks || is_subscription(request.method) || request.method == "logging/setLevel";
  }
  return context_.bridges(Era::Modern, Era::Legacy) &&
         (tasks || request.method == "server/discover");
}

void RequestRelay::answer_here(const Message& request) {
  ServerSession& server = context_.server;
  if (request.method == "subscriptions/listen") return listeners_.listen(request);
  if (request.method == "server/discover") {
    return context_.client.send(
        with_list_changed(result_text(request.id, bridge_.discovery(server.opening().opening()))));
  }
  if (request.method.starts_with("tasks/")) {
    context_.door.note_degraded("tasks");
    return context_.client.refuse(request, kMethodNotFound, "Method not found");
  }
  server.standing().note(request);
  if (is_subscription(request.method)) server.opening().listen_for_client();
  context_.client.send(result_text(request.id, "{}"));
}

}  // namespace sallyport::mcp
