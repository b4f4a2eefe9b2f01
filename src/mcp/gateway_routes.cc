// Routes each message of the client.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "mcp/gateway.h"
#include "mcp/message/grant_in_meta.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

// Removes unknown params of a tool call. Guards see only its arguments, so others would reach the
// server unchecked.
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

// Replaces a version that we do not support. Otherwise a server that accepts any version would
// promise it for us.
std::string opening_params(const Message& request) {
  const std::string_view given = request.params_text();
  const json::object* const params = request.params();
  const auto requested = params ? text_in(*params, "protocolVersion") : std::nullopt;
  if (!requested || session_version(*requested) == *requested) return std::string(given);
  return with_member(given, "protocolVersion", fmt::format("\"{}\"", session_version(*requested)));
}

// Requests that are judged and recorded: calls, and methods that only the policy names.
bool is_call(std::string_view method) {
  return is_governed(method) || !is_request_name(method);
}

}  // namespace

void Gateway::on_message(Message message) {
  switch (message.kind) {
    case Message::Kind::Request:
      return on_request(std::move(message));
    case Message::Kind::Notification:
      return on_notification(message);
    case Message::Kind::Response:
      return client_.on_response(std::move(message));
  }
}

void Gateway::on_request(Message request) {
  client_.note_profile(request);
  if (const std::string error = refusal(request); !error.empty()) return client_.send(error);
  if (drop_stray_params(request) > 0) {
    door_.note(MessageLog::Action::Trimmed, Side::Client, request.method);
  }
  const bool has_answers = handed_.has_answers(request);
  const Route route = has_answers ? Route::HasAnswers : route_of(request);
  send_along(route, std::move(request));
}

// The whole error response for a request that is not routed; empty: it is routed.
std::string Gateway::refusal(const Message& request) {
  if (desk_.of_client(request.id) || client_.is_open(request.id)) {
    return error_text(request.id, kInvalidRequest, "this id is in use");
  }
  if (request.method == "ping" && client_.era() != Era::Modern) return {};
  if (!door_.may_ask(Side::Client, request)) {
    return error_text(request.id, kMethodNotFound, unknown_method(request.method));
  }
  if (std::string error = client_.era_error(request); !error.empty()) return error;
  if (!has_usable_meta(request)) {
    return error_text(request.id, kInvalidParams,
                      fmt::format("`{}` is not a log level", kMetaLogLevel));
  }
  return {};
}

// Takes the log level of a stateless request, and wakes a server that has not opened. False: it is
// no log level.
bool Gateway::has_usable_meta(const Message& request) {
  const json::object* const meta = request.meta();
  if (client_.era() == Era::Modern) {
    if (meta == nullptr || object_in(*meta, kMetaCapabilities) == nullptr ||
        !text_in(*meta, kMetaVersion)) {
      return true;  // `server/discover` may lack them
    }
    const json::value* const level = meta->if_contains(kMetaLogLevel);
    bool changed = false;
    if (level != nullptr && !server_.standing().lower_log_level(*level, changed)) return false;
    if (changed && server_.opening().ready() && server_.opening().era() == Era::Legacy) {
      tasks_.start(server_.standing().send_log_level(server_.opening().opening()));
    }
  }
  if (request.method != "initialize") server_.opening().wake();
  return true;
}

Gateway::Route Gateway::route_of(const Message& request) const {
  if (request.method == "ping" && client_.era() != Era::Modern) return Route::Pong;
  if (request.method == "initialize") return Route::Open;
  if (call_tasks_.needs_opening(request)) return Route::AfterOpening;
  if (!call_tasks_.refusal(request).empty()) return Route::RefusedTask;
  if (call_tasks_.is_ours(request)) return Route::OwnTask;
  if (server_.opening().ready() && relay_.is_answered_here(request)) return Route::Here;
  if (is_call(request.method)) return route_of_call(request);
  if (request.method.starts_with("tasks/") && owners_.is_foreign(task_named_by(request))) {
    return Route::ForeignTask;
  }
  const bool later_page = find(request.params_text(), {"cursor"}).has_value();
  if (request.method == "tools/list" && later_page && !server_.tools().known()) {
    return Route::ListFirst;
  }
  return Route::Pass;
}

Gateway::Route Gateway::route_of_call(const Message& request) const {
  if (handed_.has_sealed_state(request)) return Route::SealedState;
  if (parked_.is_about_parked(request)) return Route::Parked;
  return handed_.has_foreign_state(request) ? Route::ForeignState : Route::Call;
}

void Gateway::send_along(Route route, Message request) {
  switch (route) {
    case Route::Pong:
      return client_.send(result_text(request.id, "{}"));
    case Route::HasAnswers:
      client_.begin(request.id);
      return tasks_.start(pass_answers(std::move(request)));
    case Route::Open: {
      auto held = relay_.room_for(request);
      if (!held) return;
      client_.begin(request.id);
      return tasks_.start(open(std::move(request), std::move(*held)));
    }
    case Route::AfterOpening: {
      auto held = relay_.room_for(request);
      if (!held) return;
      client_.begin(request.id);
      return tasks_.start(route_after_opening(std::move(request), std::move(*held)));
    }
    case Route::RefusedTask:
      return client_.send(call_tasks_.refusal(request));
    case Route::OwnTask:
      return call_tasks_.answer(request);
    case Route::Here:
      return relay_.answer_here(request);
    case Route::ForeignTask:
      return client_.refuse(request, kInvalidParams, "there is no such task");
    case Route::ForeignState:
      return client_.refuse(request, kInvalidParams,
                            "`requestState` was not given here; call again without it");
    case Route::SealedState:
    case Route::Parked:
    case Route::Call: {
      // A call continues only for a client that presents the grants with which it was judged.
      Grants grants = calls_.take_grants(request);
      if (route == Route::SealedState) return go_on_with_state(std::move(request), grants);
      if (route == Route::Parked) return parked_.go_on(request, grants);
      const CallDesk::Held awaited = approvals_.awaited(request, grants);
      if (awaited) return approvals_.on_retry(awaited, request);
      return begin_call(std::move(request), std::move(grants));
    }
    case Route::ListFirst:
    case Route::Pass: {
      Call ungoverned;  // requests that are not governed need no grant, and no server gets one
      take_grant(request, ungoverned);
      server_.standing().note(request);
      if (route == Route::Pass) return relay_.pass(std::move(request));
      client_.begin(request.id);
      return tasks_.start(relay_.list_then_pass(std::move(request)));
    }
  }
}

void Gateway::begin_call(Message request, Grants grants) {
  if (desk_.queue_is_full()) {
    return client_.refuse(request, kTooMuch, "too many calls wait; try again later");
  }
  auto held = relay_.room_for(request);
  if (held) calls_.begin(std::move(request), std::move(grants), std::move(*held));
}

void Gateway::go_on_with_state(Message request, const Grants& grants) {
  const Result<SealedState> state = handed_.state_of(request, grants);
  if (!state) return client_.refuse(request, kInvalidParams, state.error().message);
  client_.begin(request.id);
  tasks_.start(state->carried.empty()
                   ? approvals_.take_answer(std::move(request), *state)
                   : go_on_with_server_state(std::move(request), grants, *state));
}

Async<void> Gateway::go_on_with_server_state(Message request, Grants grants, SealedState state) {
  const std::string id = request.id;
  Result<Message> opened = co_await handed_.with_own_state(std::move(request), std::move(state));
  if (!client_.end(id)) co_return;  // cancelled meanwhile
  if (opened) {
    client_.note_profile(*opened);  // other requests came meanwhile
    co_return begin_call(std::move(*opened), std::move(grants));
  }
  client_.send(error_text(id, kInvalidParams, opened.error().message));
}

Async<void> Gateway::route_after_opening(Message request, net::Quota::Share /*held*/) {
  const Result<void> ready = co_await server_.opening().wait_ready(settings_.limits.start);
  if (!client_.end(request.id)) co_return;  // cancelled meanwhile
  if (!ready) co_return client_.refuse(request, kInternalError, ready.error().message);
  client_.note_profile(request);  // other requests came meanwhile
  const Route route = route_of(request);
  send_along(route, std::move(request));
}

Async<void> Gateway::pass_answers(Message request) {
  const std::string id = request.id;
  Result<Message> passed = co_await handed_.with_answers(std::move(request));
  if (!client_.end(id)) co_return;  // cancelled meanwhile
  if (!passed) co_return client_.send(error_text(id, kDenied, passed.error().message));
  client_.note_profile(*passed);  // other requests came meanwhile
  const Route route = route_of(*passed);
  send_along(route, std::move(*passed));
}

// A client of sessions opens.
Async<void> Gateway::open(Message request, net::Quota::Share /*held*/) {
  client_.note_opening(request);
  const std::string own = opening_params(request);
  client_.note_version(find(own, {"protocolVersion"}));
  const auto opened = co_await server_.opening().open(own);
  client_.end(request.id);
  if (!opened) co_return client_.refuse(request, kInternalError, opened.error().message);
  const json::object* const params = request.params();
  if (!*opened) {
    const std::string requested(params ? text_in(*params, "protocolVersion").value_or("") : "");
    co_return client_.send(with_list_changed(
        result_text(request.id, opening_from_discovery(server_.opening().discovery(), requested))));
  }
  const Result<Message>& answer = **opened;
  if (!answer) co_return client_.refuse(request, kDenied, answer.error().message);
  client_.note_version(find(answer->text, {"result", "protocolVersion"}));
  client_.send(with_member(answer->is_error() ? answer->text : with_list_changed(answer->text),
                           "id", request.id));
}

void Gateway::on_notification(const Message& notification) {
  if (!door_.passes(Side::Client, notification)) {
    if (!notification.method.starts_with("notifications/")) {
      settings_.log("the client sent a request without an id; it was dropped");
    }
    return;
  }
  ServerOpening& opening = server_.opening();
  if (notification.method == "notifications/cancelled") return cancel(notification);
  if (notification.method == "notifications/initialized") {
    opening.set_initialized();
    // Other servers have answered the client; this server is notified after its own opening.
    if (opening.era() == Era::Unknown) return;
  }
  if (opening.era() != Era::Modern || client_.era() == Era::Modern) {
    server_.link().send(notification.text);
  } else if (opening.initialized()) {
    // A stateless server has no notification of openings or changed roots.
    opening.listen_for_client();
  }
}

void Gateway::cancel(const Message& notification) {
  const std::string client_id = cancelled_id(notification);
  if (client_id.empty()) return;
  const std::string reason(find(notification.params_text(), {"reason"}).value_or(""));
  const CallDesk::Held call = desk_.of_client(client_id);
  if (!call) return relay_.cancel(client_id, reason);
  call->cancelled = true;
  call->upstream->give_reason(reason);
  call->stop.request_stop();
}

}  // namespace sallyport::mcp
