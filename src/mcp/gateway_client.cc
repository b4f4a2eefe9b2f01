// What the client sends, and what is passed on as it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/gateway.h"
#include "mcp/grant_in_meta.h"
#include "mcp/json_text.h"
#include "mcp/told.h"
#include "mcp/translation.h"

namespace sallyport::mcp {

namespace {

// Clients give up on a server that keeps silent when it is discovered, also where it is only slow
// to start. What it may have is promised then, for this moment alone (`ttlMs` is 0); what it has
// not is refused when it is asked for.
constexpr std::chrono::milliseconds kLongestDiscovery{5'000};
constexpr std::size_t kLongestSubscription = 8u << 10;  // that a new server is told of as well
constexpr std::string_view kStillStarting =
    R"({"serverInfo":{"name":"sallyport","version":"1"},"capabilities":{"tools":{"listChanged":true},)"
    R"("prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},)"
    R"("completions":{},"logging":{}}})";

constexpr std::string_view kUnreadable = "(unreadable)";

// The members that a call of a tool has. Others would reach the server past the guards, which see
// its arguments.
std::size_t drop_stray_params(Message& request) {
  constexpr auto kKnown = std::to_array<std::string_view>(
      {"name", "arguments", "_meta", "task", "inputResponses", "requestState"});
  const json::object* const params = request.params();
  if (request.method != "tools/call" || params == nullptr) return 0;
  std::vector<std::string> strays;
  for (const auto& member : *params) {
    if (std::ranges::find(kKnown, std::string_view(member.key())) == kKnown.end()) {
      strays.emplace_back(member.key());
    }
  }
  if (strays.empty()) return 0;
  std::string kept(request.params_text());
  json::object& object = request.value.get_object().at("params").get_object();
  for (const std::string& name : strays) {
    kept = without_member(kept, name);
    object.erase(name);
  }
  request.text = with_member(request.text, "params", kept);
  return strays.size();
}

}  // namespace

class Gateway::Relayed final : public Waiter {
 public:
  Relayed(Gateway& gateway, std::string client_id, std::string method)
      : gateway_(gateway), client_id_(std::move(client_id)), method_(std::move(method)) {}
  Async<void> answered(Reply reply) override {
    return gateway_.relay_answer(client_id_, method_, std::move(reply));
  }

 private:
  Gateway& gateway_;
  std::string client_id_;
  std::string method_;
};

void Gateway::to_client(std::string text, std::string_view about) {
  if (!client_->send(std::move(text), about) && !client_->broken()) {
    settings_.log("the client does not read; a message to it was dropped");
  }
}

Async<void> Gateway::hear_client(net::Line line) {
  if (line.too_long) {
    to_client(too_long_text(line.text, line.tail, settings_.limits.frame_bytes));
    co_return;
  }
  if (is_batch(line.text) && parse_json(line.text, settings_.limits.json())) {
    hear_batch(line.text);
  } else {
    hear_message(std::move(line.text));
  }
  co_await client_->room(settings_.limits.start);
}

// Only one revision has them.
void Gateway::hear_batch(std::string_view text) {
  constexpr std::string_view kRevision = "\"2025-03-26\"";
  const std::vector<std::string_view> messages = elements(text);
  const bool known = find(opening_, {"protocolVersion"}) == kRevision ||
                     find(opening_result_, {"protocolVersion"}) == kRevision;
  if (!known || messages.empty()) {
    to_client(error_text({}, kInvalidRequest, "batches belong to sessions of 2025-03-26"));
    return;
  }
  for (const std::string_view one : messages) hear_message(std::string(one));
}

void Gateway::hear_message(std::string text) {
  Result<Message> message = Message::read(text, settings_.limits.json());
  if (!message) {
    if (message.error().cause == "request") {
      note(MessageLog::What::Refused, Side::Client, kUnreadable);
    }
    return to_client(unreadable_text(text, message.error()));
  }
  const bool answers = message->kind == Message::Kind::Response;
  note_trimmed(Side::Client, *message, answers ? "(response)" : std::string_view(message->method));
  switch (message->kind) {
    case Message::Kind::Request:
      return client_asks(std::move(*message));
    case Message::Kind::Notification:
      return client_tells(*message);
    case Message::Kind::Response:
      return client_answers(*message);
  }
}

void Gateway::client_asks(Message request) {
  meet_client(request);
  if (calls_.contains(request.id) || relayed_.contains(request.id) ||
      listeners_.contains(request.id)) {
    return to_client(error_text(request.id, kInvalidRequest, "this id is in use"));
  }
  if (request.method == "ping" && client_era_ != Era::Modern) {
    return to_client(result_text(request.id, "{}"));
  }
  if (refuse_unknown(request) || refuse_by_era(request)) return;
  if (drop_stray_params(request) > 0) note(MessageLog::What::Trimmed, Side::Client, request.method);
  if (!brings_answers(request)) return go_on_asking(std::move(request));
  relayed_[request.id] = 0;
  tasks_.start(pass_answers(std::move(request)));
}

void Gateway::go_on_asking(Message request) {
  if (request.method == "initialize") {
    auto held = room_for(request);
    if (!held) return;
    relayed_[request.id] = 0;
    tasks_.start(open_session(std::move(request), std::move(*held)));
  } else if (refuses_task(request) || answers_task(request) || (ready_ && answer_here(request))) {
    return;
  } else if (is_call(request.method)) {
    // A call continues only for a client that brings the grants with which it was judged.
    Grants grants = take_grants(request);
    if (!brings_answer(request, grants) && !unpark(request, grants) &&
        !refuse_foreign_state(request) && !come_back(request, grants)) {
      begin_call(std::move(request), std::move(grants));
    }
  } else {
    if (request.method.starts_with("tasks/") &&
        tasks_of_server_.is_foreign(task_named_by(request))) {
      return to_client(error_text(request.id, kInvalidParams, "there is no such task"));
    }
    Call nobody;  // what is not governed needs no grant, and hands none on
    take_grant(request, nobody);
    note_request(request);
    if (request.method == "tools/list" && !tools_known_ &&
        find(request.params_text(), {"cursor"})) {
      relayed_[request.id] = 0;
      tasks_.start(list_then_relay(std::move(request)));
      return;
    }
    relay(std::move(request));
  }
}

// True: it was answered, because the protocol has no such method and the policy does not name it.
bool Gateway::refuse_unknown(const Message& request) {
  if (is_known(Side::Client, request)) return false;
  if (parts_.plans.current()->passes_method(request.method)) return false;
  note(MessageLog::What::Refused, Side::Client, request.method);
  to_client(error_text(request.id, kMethodNotFound, unknown_method(request.method)));
  return true;
}

// Requests that are judged and recorded: those that are calls, and those that only the policy
// knows.
bool Gateway::is_call(std::string_view method) const {
  return is_governed(method) || !is_request_name(method);
}

// What a server that is started again has to hear too.
void Gateway::note_request(const Message& request) {
  const json::object* const params = request.params();
  if (params == nullptr) return;
  if (request.method == "logging/setLevel") {
    log_level_ = std::string(request.params_text());
  } else if (request.method == "resources/subscribe" &&
             subscriptions_.size() < settings_.limits.requests &&
             request.params_text().size() <= kLongestSubscription) {
    subscriptions_.insert(canonical_json(*params));
  } else if (request.method == "resources/unsubscribe") {
    subscriptions_.erase(canonical_json(*params));
  }
}

// What waits here for long is counted. Nothing: the client has heard that there is no room.
std::optional<net::Quota::Share> Gateway::room_for(const Message& request) {
  net::Quota::Share held = parts_.held.share_of(settings_.agent_id);
  if (relayed_.size() < settings_.limits.requests && held.grow_to(request.weight())) {
    return held;
  }
  to_client(error_text(request.id, kTooMuch, "too much waits; try again later"));
  return std::nullopt;
}

void Gateway::relay(Message request) {
  if (!ready_) {
    auto held = room_for(request);
    if (!held) return;
    relayed_[request.id] = 0;
    tasks_.start(relay_later(std::move(request), std::move(*held)));
    return;
  }
  relayed_[request.id] = 0;
  const bool listens = request.method == "subscriptions/listen";
  const std::string text =
      listens ? with_tasks_of_server(for_server(request)) : for_server(request);
  const auto sent =
      server_.request([&](std::string_view id) { return with_member(text, "id", id); },
                      std::make_shared<Relayed>(*this, request.id, request.method));
  if (sent) {
    relayed_[request.id] = *sent;
    if (!listens) return;
    endless_.insert(request.id);
    if (lists("tools") && find(text, {"params", "notifications", "toolsListChanged"}) == "true") {
      tool_listeners_.insert(request.id);
    }
    (void)listen_to_tasks(request);  // granted with what the server grants
    return;
  }
  relayed_.erase(request.id);
  to_client(error_text(request.id, kInternalError, sent.error().message));
}

Async<void> Gateway::relay_later(Message request, net::Quota::Share /*held*/) {
  const bool discovers = request.method == "server/discover" && client_era_ == Era::Modern;
  const Result<void> ready = co_await server_ready(
      discovers ? std::min(kLongestDiscovery, settings_.limits.start) : settings_.limits.start);
  // Cancelled meanwhile: the answer is not wanted.
  if (!relayed_.contains(request.id)) co_return;
  if (ready) {
    if (answer_here(request)) {
      relayed_.erase(request.id);
    } else {
      relay(std::move(request));
    }
    co_return;
  }
  relayed_.erase(request.id);
  if (discovers && !gave_up_ && !not_let_in_) {
    to_client(result_text(request.id, with_our_tasks(discovery_from_opening(kStillStarting))));
    co_return;
  }
  to_client(error_text(request.id, kInternalError, ready.error().message));
}

Async<void> Gateway::relay_answer(std::string client_id, std::string method, Reply reply) {
  const bool wanted = relayed_.erase(client_id) > 0;
  endless_.erase(client_id);
  task_listeners_.erase(client_id);
  tool_listeners_.erase(client_id);
  bell_.ring("ended");
  if (!wanted) co_return;
  if (!reply.message) {
    to_client(error_text(client_id, kInternalError,
                         reply.malformed ? "upstream sent malformed output" : reply.error.message));
    co_return;
  }
  Result<std::string> text = co_await passed(method, *reply.message);
  to_client(text ? with_member(answer_for_client(method, std::move(*text)), "id", client_id)
                 : error_text(client_id, kDenied, text.error().message));
  co_await client_->room(settings_.limits.start);
}

// The answer as the client may see it.
Task<std::string> Gateway::passed(const std::string& method, Message answer) {
  note_trimmed(Side::Server, answer, method);
  const json::value* const given = answer.object().if_contains("result");
  const json::object* const result = given ? given->if_object() : nullptr;
  std::string kept;
  if (method == "tools/list" && result != nullptr) {
    SALLYPORT_CO_TRY(const std::set<std::string> held, co_await see_tools(*result));
    if (!held.empty()) kept = without_tools(answer.result_text(), held);
  }
  if ((method == "initialize" || method == "server/discover") && result != nullptr &&
      !co_await may_instruct(*result)) {
    kept = without_member(answer.result_text(), "instructions");
  }
  if (method == "tasks/list" && result != nullptr) {
    kept = tasks_of_server_.without_foreign(answer.result_text());
  }
  if (!kept.empty()) {
    SALLYPORT_CO_TRY(
        answer, Message::read(with_member(answer.text, "result", kept), settings_.limits.json()));
  }
  co_return co_await screen_.pass(method, std::move(answer));
}

void Gateway::client_tells(const Message& notification) {
  if (!passes(Side::Client, notification)) {
    if (!notification.method.starts_with("notifications/")) {
      settings_.log("the client sent a request without an id; it was dropped");
    }
    return;
  }
  if (notification.method == "notifications/cancelled") return cancel(notification);
  if (notification.method == "notifications/initialized") {
    opened_ = true;
    // The client has its answer from other servers; this one hears of it behind its own.
    if (server_era_ == Era::Unknown) return;
  }
  if (server_era_ != Era::Modern || client_era_ == Era::Modern) {
    server_.send(notification.text);
  } else if (opened_) {
    // A stateless server hears neither of openings nor of roots that changed.
    listen_for_client();
  }
}

void Gateway::cancel(const Message& notification) {
  const std::string client_id = cancelled_id(notification);
  if (client_id.empty()) return;
  const std::string reason(find(notification.params_text(), {"reason"}).value_or(""));
  if (const auto found = calls_.find(client_id); found != calls_.end()) {
    found->second->cancelled = true;
    found->second->upstream->give_reason(reason);
    found->second->stop.request_stop();
    return;
  }
  if (listeners_.contains(client_id)) return unlisten(client_id);
  const auto found = relayed_.find(client_id);
  if (found == relayed_.end()) return;
  server_.abandon(found->second, reason);
  relayed_.erase(found);
  endless_.erase(client_id);
  task_listeners_.erase(client_id);
  tool_listeners_.erase(client_id);
}

void Gateway::client_answers(const Message& answer) {
  const auto found = questions_.find(answer.id);
  if (found == questions_.end()) return;
  const std::shared_ptr<Told> told = std::move(found->second);
  questions_.erase(found);
  told->hear(answer);
}

}  // namespace sallyport::mcp
