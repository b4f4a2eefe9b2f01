#include "mcp/client/client_listeners.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kToolsChanged = "notifications/tools/list_changed";
constexpr std::string_view kPromptsChanged = "notifications/prompts/list_changed";
constexpr std::string_view kResourcesChanged = "notifications/resources/list_changed";
constexpr std::string_view kResourceUpdated = "notifications/resources/updated";
constexpr std::string_view kAcknowledged = "notifications/subscriptions/acknowledged";

// Adds the id of its subscription to a notification.
std::string tagged(const Message& notification, std::string_view id) {
  const std::string_view given = notification.params_text();
  const std::string params(given.empty() ? "{}" : given);
  const std::string meta(find(params, {"_meta"}).value_or("{}"));
  return with_member(notification.text, "params",
                     with_member(params, "_meta", with_member(meta, kMetaSubscription, id)));
}

std::string untagged(const Message& notification) {
  const std::string params(notification.params_text());
  const auto meta = find(params, {"_meta"});
  if (!meta) return notification.text;
  const std::string left = without_member(*meta, kMetaSubscription);
  const std::string changed =
      members(left).empty() ? without_member(params, "_meta") : with_member(params, "_meta", left);
  return with_member(notification.text, "params", changed);
}

// The part of a subscription that a server of sessions supports. Stores it in `granted` too.
Listening granted_of(const json::object& wanted, const std::string& opening, bool lists_tools,
                     std::size_t most, json::object& granted) {
  Listening listening;
  const auto grant = [&](std::string_view name, bool can) {
    const bool given = can && bool_in(wanted, name) == true;
    if (given) granted[name] = true;
    return given;
  };
  listening.tools = grant("toolsListChanged", lists_tools);
  listening.prompts = grant("promptsListChanged", offers(opening, "prompts", "listChanged"));
  listening.resources = grant("resourcesListChanged", offers(opening, "resources", "listChanged"));
  const json::value* const uris = wanted.if_contains("resourceSubscriptions");
  if (uris == nullptr || !uris->is_array() || !offers(opening, "resources", "subscribe")) {
    return listening;
  }
  json::array names;
  for (const json::value& uri : uris->get_array()) {
    if (!uri.is_string() || listening.uris.size() >= most) continue;
    listening.uris.insert(std::string(uri.get_string()));
    names.push_back(uri);
  }
  granted["resourceSubscriptions"] = std::move(names);
  return listening;
}

}  // namespace

void ClientListeners::listen(const Message& request) {
  const json::object* const params = request.params();
  const json::object* const wanted = params ? object_in(*params, "notifications") : nullptr;
  if (wanted == nullptr) {
    return context_.client.refuse(request, kInvalidParams, "`notifications` is missing");
  }
  const ServerOpening& opening = context_.server.opening();
  json::object granted;
  Listening listening =
      granted_of(*wanted, opening.opening(), offers(opening.description(), "tools"),
                 context_.settings.limits.requests, granted);
  context_.tasks.start(context_.server.standing().subscribe(listening.uris));
  context_.client.begin(request.id).listening = std::move(listening);
  if (json::array tasks = tasks_.listen(request); !tasks.empty()) {
    granted["taskIds"] = std::move(tasks);
  }
  context_.client.send(
      notification_text(kAcknowledged,
                        fmt::format(R"({{"_meta":{{"{}":{}}},"notifications":{}}})",
                                    kMetaSubscription, request.id, json::serialize(granted))),
      request.id);
  tasks_.notify_ended(request.id);
}

void ClientListeners::unlisten(const std::string& client_id) {
  auto& requests = context_.client.requests();
  std::set<std::string> uris = std::move(requests[client_id].listening->uris);
  requests.erase(client_id);
  for (const auto& [id, other] : requests) {
    if (!other.listening) continue;
    for (const std::string& uri : other.listening->uris) uris.erase(uri);
  }
  context_.tasks.start(context_.server.standing().unsubscribe(std::move(uris)));
}

void ClientListeners::notify_listeners(const Message& notification) {
  const json::object* const params = notification.params();
  const auto uri = params ? text_in(*params, "uri") : std::nullopt;
  for (const auto& [id, request] : context_.client.requests()) {
    if (!request.listening) continue;
    const Listening& wanted = *request.listening;
    const bool wants =
        (notification.method == kToolsChanged && wanted.tools) ||
        (notification.method == kPromptsChanged && wanted.prompts) ||
        (notification.method == kResourcesChanged && wanted.resources) ||
        (notification.method == kResourceUpdated && uri && wanted.uris.contains(std::string(*uri)));
    if (wants) context_.client.send(tagged(notification, id), id);
  }
}

// Sends a notification that does not come from the server.
void ClientListeners::notify_changed(std::string_view method) {
  const Message notification = Message::make_notification(method);
  if (context_.client.era() != Era::Modern) {
    if (context_.server.opening().initialized()) context_.client.send(notification.text);
    return;
  }
  notify_listeners(notification);
  if (method != kToolsChanged) return;
  for (const auto& [id, request] : context_.client.requests()) {
    if (request.gets_tool_changes) context_.client.send(tagged(notification, id), id);
  }
}

void ClientListeners::notify_tools_changed() {
  notify_changed(kToolsChanged);
}

void ClientListeners::notify_of_return() {
  const std::string& description = context_.server.opening().description();
  if (offers(description, "tools")) notify_changed(kToolsChanged);
  if (offers(description, "prompts", "listChanged")) notify_changed(kPromptsChanged);
  if (offers(description, "resources", "listChanged")) notify_changed(kResourcesChanged);
}

// Acknowledges what the server grants, and our own notifications: our tasks, and accepted tools.
void ClientListeners::acknowledge(const Message& notification, const std::string& client_id) {
  OpenRequest& request = context_.client.requests()[client_id];
  request.acknowledged = true;
  if (std::exchange(request.granted, true)) return;  // the server has ended and is back
  std::string text = tagged(notification, client_id);
  if (const auto given = find(text, {"params", "notifications"});
      given && given->starts_with('{') && request.gets_tool_changes) {
    text = edited(text, {{*given, with_member(*given, "toolsListChanged", "true")}});
  }
  const auto granted = find(text, {"params", "notifications"});
  if (!request.tasks.empty() && granted && granted->starts_with('{')) {
    const Result<ParsedJson> read = parse_json(find(*granted, {"taskIds"}).value_or("[]"));
    json::array ids = read && read->value.is_array() ? read->value.get_array() : json::array();
    for (const std::string& id : request.tasks) ids.emplace_back(id);
    text = edited(text, {{*granted, with_member(*granted, "taskIds", json::serialize(ids))}});
  }
  context_.client.send(std::move(text), client_id);
  tasks_.notify_ended(client_id);
}

bool ClientListeners::notify(const Message& notification) {
  if (context_.bridges(Era::Legacy, Era::Modern)) {
    if (notification.method != kAcknowledged) context_.client.send(untagged(notification));
    return true;
  }
  if (context_.client.era() != Era::Modern) return false;
  if (context_.server.opening().era() != Era::Legacy) return notify_subscription(notification);
  if (notification.method == "notifications/message") {
    notify_stateless_log(notification);
  } else {
    notify_listeners(notification);
  }
  return true;
}

// Sends a log message to the first call that requested its level. The server does not name a call,
// and its own level is the lowest that any call requested.
void ClientListeners::notify_stateless_log(const Message& notification) {
  const json::object* const params = notification.params();
  const auto level = rank_of_level(params ? text_in(*params, "level").value_or("") : "");
  bool requested = false;
  for (const CallDesk::Held& call :
       context_.desk.in(HeldCall::State::Queued, HeldCall::State::Running)) {
    const json::object* const meta = call->upstream->request().meta();
    const auto lowest = meta ? text_in(*meta, kMetaLogLevel) : std::nullopt;
    if (!lowest) continue;
    requested = true;
    if (!level || *level < rank_of_level(*lowest)) continue;
    return context_.client.send(notification.text, call->client_id());
  }
  if (!requested) context_.door.note_degraded("logging");
}

// Both sides are stateless. The server names a subscription by our id of its request.
bool ClientListeners::notify_subscription(const Message& notification) {
  const auto mark = find(notification.params_text(), {"_meta", kMetaSubscription});
  if (!mark) return false;
  for (const auto& [client_id, request] : context_.client.requests()) {
    if (std::to_string(request.server_id) != *mark) continue;
    if (notification.method == kAcknowledged) {
      acknowledge(notification, client_id);
    } else {
      context_.client.send(tagged(notification, client_id), client_id);
    }
    break;
  }
  return true;
}

}  // namespace sallyport::mcp
