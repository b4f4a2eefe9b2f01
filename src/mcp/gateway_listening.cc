// Changed lists and resources, from servers that simply tell to clients that want to be asked, and
// the other way round.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "mcp/gateway.h"
#include "mcp/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kToolsChanged = "notifications/tools/list_changed";
constexpr std::string_view kPromptsChanged = "notifications/prompts/list_changed";
constexpr std::string_view kResourcesChanged = "notifications/resources/list_changed";
constexpr std::string_view kResourceUpdated = "notifications/resources/updated";
constexpr std::string_view kAcknowledged = "notifications/subscriptions/acknowledged";

bool says(const std::string& opening, std::string_view feature, std::string_view what) {
  return find(opening, {"capabilities", feature, what}) == "true";
}

// With the mark of the subscription that it belongs to.
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

}  // namespace

// A stateless client listens to a server of sessions, or to tasks of ours.
void Gateway::listen(const Message& request) {
  const json::object* const params = request.params();
  const json::object* const wanted = params ? object_in(*params, "notifications") : nullptr;
  if (wanted == nullptr) {
    to_client(error_text(request.id, kInvalidParams, "`notifications` is missing"));
    return;
  }
  Listening listening;
  json::object granted;
  const auto grant = [&](std::string_view name, bool can) {
    const bool given = can && bool_in(*wanted, name) == true;
    if (given) granted[name] = true;
    return given;
  };
  listening.tools = grant("toolsListChanged", lists("tools"));
  listening.prompts = grant("promptsListChanged", says(opening_result_, "prompts", "listChanged"));
  listening.resources =
      grant("resourcesListChanged", says(opening_result_, "resources", "listChanged"));
  const json::value* const uris = wanted->if_contains("resourceSubscriptions");
  if (uris != nullptr && uris->is_array() && says(opening_result_, "resources", "subscribe")) {
    json::array names;
    for (const json::value& uri : uris->get_array()) {
      if (!uri.is_string() || listening.uris.size() >= settings_.limits.requests) continue;
      listening.uris.insert(std::string(uri.get_string()));
      names.push_back(uri);
    }
    granted["resourceSubscriptions"] = std::move(names);
  }
  if (json::array tasks = listen_to_tasks(request); !tasks.empty()) {
    granted["taskIds"] = std::move(tasks);
  }
  tasks_.start(subscribe(listening.uris));
  listeners_[request.id] = std::move(listening);
  to_client(notification_text(kAcknowledged,
                              fmt::format(R"({{"_meta":{{"{}":{}}},"notifications":{}}})",
                                          kMetaSubscription, request.id, json::serialize(granted))),
            request.id);
  tell_ended_tasks(request.id);
}

Async<void> Gateway::subscribe(std::set<std::string> uris) {
  for (const std::string& uri : uris) {
    const std::string params = canonical_json(json::object{{"uri", uri}});
    if (!subscriptions_.insert(params).second) continue;
    (void)co_await server_.ask("resources/subscribe", params, settings_.limits.start);
  }
}

// The last one who listened to a resource ends its subscription.
void Gateway::unlisten(const std::string& client_id) {
  std::set<std::string> uris = std::move(listeners_[client_id].uris);
  listeners_.erase(client_id);
  task_listeners_.erase(client_id);
  for (const auto& [id, other] : listeners_) {
    for (const std::string& uri : other.uris) uris.erase(uri);
  }
  tasks_.start(unsubscribe(std::move(uris)));
}

Async<void> Gateway::unsubscribe(std::set<std::string> uris) {
  for (const std::string& uri : uris) {
    const std::string params = canonical_json(json::object{{"uri", uri}});
    if (subscriptions_.erase(params) == 0) continue;
    (void)co_await server_.ask("resources/unsubscribe", params, settings_.limits.start);
  }
}

void Gateway::tell_listeners(const Message& notification) {
  const json::object* const params = notification.params();
  const auto uri = params ? text_in(*params, "uri") : std::nullopt;
  for (const auto& [id, wanted] : listeners_) {
    const bool wants =
        (notification.method == kToolsChanged && wanted.tools) ||
        (notification.method == kPromptsChanged && wanted.prompts) ||
        (notification.method == kResourcesChanged && wanted.resources) ||
        (notification.method == kResourceUpdated && uri && wanted.uris.contains(std::string(*uri)));
    if (wants) to_client(tagged(notification, id), id);
  }
}

bool Gateway::lists(std::string_view feature) const {
  const std::string& said = server_era_ == Era::Modern ? discovery_ : opening_result_;
  return find(said, {"capabilities", feature}).has_value();
}

// Of what the server itself does not tell.
void Gateway::tell_changed(std::string_view what) {
  const Result<Message> notification =
      Message::read(notification_text(what, {}), settings_.limits.json());
  if (!notification) return;
  if (client_era_ != Era::Modern) {
    if (opened_) to_client(notification->text);
    return;
  }
  tell_listeners(*notification);
  if (what != kToolsChanged) return;
  for (const std::string& id : tool_listeners_) to_client(tagged(*notification, id), id);
}

// A server that was started again may have other lists than before.
void Gateway::tell_of_return() {
  const std::string& said = server_era_ == Era::Modern ? discovery_ : opening_result_;
  if (lists("tools")) tell_changed(kToolsChanged);
  if (says(said, "prompts", "listChanged")) tell_changed(kPromptsChanged);
  if (says(said, "resources", "listChanged")) tell_changed(kResourcesChanged);
}

// A person has accepted the change of a tool, in another process or for another session.
void Gateway::tell_of_accepted() {
  const auto accepted = [&](const std::string& tool) {
    return !parts_.pins.held(settings_.name, tool);
  };
  if (std::erase_if(held_back_, accepted) > 0) tell_changed(kToolsChanged);
}

// A client of sessions before a stateless server: we hold the one subscription that it needs.
void Gateway::listen_for_client() {
  if (bridges(Era::Legacy, Era::Modern) && ready_) tasks_.start(relisten());
}

namespace {

// A subscription only ends; what it says comes as notifications.
class Unheard final : public Waiter {
 public:
  Async<void> answered(Reply) override { co_return; }
};

}  // namespace

Async<void> Gateway::relisten() {
  json::object wanted;
  const auto want = [&](const char* name, std::string_view feature) {
    if (says(discovery_, feature, "listChanged")) wanted[name] = true;
  };
  want("toolsListChanged", "tools");
  want("promptsListChanged", "prompts");
  want("resourcesListChanged", "resources");
  json::array uris;
  for (const std::string& params : subscriptions_) {
    const Result<ParsedJson> read = parse_json(params);
    const auto uri = read ? text_in(read->value.get_object(), "uri") : std::nullopt;
    if (uri) uris.push_back(json::value(*uri));
  }
  if (!uris.empty()) wanted["resourceSubscriptions"] = std::move(uris);
  const std::uint64_t before = std::exchange(listening_, 0);
  if (!wanted.empty()) {
    const std::string params = modern_params(
        json::serialize(json::object{{"notifications", std::move(wanted)}}), client_facts());
    const auto compose = [&](std::string_view id) {
      return request_text(id, "subscriptions/listen", params);
    };
    const Result<std::uint64_t> sent = server_.request(compose, std::make_shared<Unheard>());
    if (sent) listening_ = *sent;
  }
  // The old one goes last, so that nothing is missed between the two.
  if (before != 0) server_.abandon(before, {});
  co_return;
}

// What the server grants, and what we tell ourselves: tasks of ours, and tools that were held back.
bool Gateway::acknowledge(const Message& notification, const std::string& client_id) {
  std::string text = tagged(notification, client_id);
  if (const auto given = find(text, {"params", "notifications"});
      given && given->starts_with('{') && tool_listeners_.contains(client_id)) {
    text = edited(text, {{*given, with_member(*given, "toolsListChanged", "true")}});
  }
  const auto heard = task_listeners_.find(client_id);
  const auto granted = find(text, {"params", "notifications"});
  if (heard != task_listeners_.end() && granted && granted->starts_with('{')) {
    const Result<ParsedJson> read = parse_json(find(*granted, {"taskIds"}).value_or("[]"));
    json::array ids = read && read->value.is_array() ? read->value.get_array() : json::array();
    for (const std::string& id : heard->second) ids.emplace_back(id);
    text = edited(text, {{*granted, with_member(*granted, "taskIds", json::serialize(ids))}});
  }
  to_client(std::move(text), client_id);
  tell_ended_tasks(client_id);
  return true;
}

// True: it was passed on, or is nothing for this client.
bool Gateway::tell_across(const Message& notification) {
  if (bridges(Era::Legacy, Era::Modern)) {
    if (notification.method == kAcknowledged) return true;
    to_client(untagged(notification));
    return true;
  }
  if (client_era_ != Era::Modern) return false;
  if (server_era_ == Era::Legacy) {
    if (notification.method == "notifications/message") {
      // Only for requests that asked for it, and on these streams none can be told apart.
      for (const auto& [id, governed] : calls_) {
        if (!find(governed->upstream->request().params_text(), {"_meta", kMetaLogLevel})) continue;
        to_client(notification.text, id);
        return true;
      }
      degraded("logging");
      return true;
    }
    if (notification.method == "notifications/progress") return false;
    tell_listeners(notification);
    return true;
  }
  // Both are stateless: a subscription is named by the id of its request, which is ours there.
  const auto mark = find(notification.params_text(), {"_meta", kMetaSubscription});
  if (!mark) return false;
  for (const auto& [client_id, our_id] : relayed_) {
    if (std::to_string(our_id) != *mark) continue;
    if (notification.method == kAcknowledged) return acknowledge(notification, client_id);
    to_client(tagged(notification, client_id), client_id);
    return true;
  }
  return true;
}

}  // namespace sallyport::mcp
