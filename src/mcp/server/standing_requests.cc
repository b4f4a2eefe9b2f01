#include "mcp/server/standing_requests.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <optional>

#include "base/json_members.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::size_t kLongestSubscription = 8u << 10;  // bytes; longer ones are not repeated

// The answer only ends the subscription, whose content comes as notifications.
class IgnoredAnswer final : public Waiter {
 public:
  Async<void> answered(Response) override { co_return; }
};

}  // namespace

std::optional<std::size_t> rank_of_level(std::string_view level) {
  constexpr auto kLevels = std::to_array<std::string_view>(
      {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"});
  const auto found = std::ranges::find(kLevels, level);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLevels.begin());
}

bool offers(const std::string& description, std::string_view feature) {
  return find(description, {"capabilities", feature}).has_value();
}

bool offers(const std::string& description, std::string_view feature, std::string_view what) {
  return find(description, {"capabilities", feature, what}) == "true";
}

void StandingRequests::note(const Message& request) {
  const json::object* const params = request.params();
  if (params == nullptr) return;
  if (request.method == "logging/setLevel") {
    log_level_ = std::string(request.params_text());
  } else if (request.method == "resources/subscribe" && subscriptions_.size() < limits_.requests &&
             request.params_text().size() <= kLongestSubscription) {
    subscriptions_.insert(canonical_json(*params));
  } else if (request.method == "resources/unsubscribe") {
    subscriptions_.erase(canonical_json(*params));
  }
}

bool StandingRequests::lower_log_level(const json::value& level, bool& changed) {
  changed = false;
  const auto rank = level.is_string() ? rank_of_level(level.get_string()) : std::nullopt;
  if (!rank) return false;
  const auto known = find(log_level_, {"level"});
  const auto before = known ? rank_of_level(known->substr(1, known->size() - 2)) : std::nullopt;
  if (before && *before <= *rank) return true;
  log_level_ = json::serialize(json::object{{"level", level}});
  changed = true;
  return true;
}

Async<void> StandingRequests::send_log_level(std::string opening) {
  if (log_level_.empty() || !offers(opening, "logging")) co_return;
  (void)co_await server_.ask("logging/setLevel", log_level_, limits_.start);
}

Async<void> StandingRequests::subscribe(std::set<std::string> uris) {
  for (const std::string& uri : uris) {
    const std::string params = canonical_json(json::object{{"uri", uri}});
    if (!subscriptions_.insert(params).second) continue;
    (void)co_await server_.ask("resources/subscribe", params, limits_.start);
  }
}

Async<void> StandingRequests::unsubscribe(std::set<std::string> uris) {
  for (const std::string& uri : uris) {
    const std::string params = canonical_json(json::object{{"uri", uri}});
    if (subscriptions_.erase(params) == 0) continue;
    (void)co_await server_.ask("resources/unsubscribe", params, limits_.start);
  }
}

Async<void> StandingRequests::repeat() {
  if (!log_level_.empty()) {
    (void)co_await server_.ask("logging/setLevel", log_level_, limits_.start);
  }
  for (const std::string& params : std::set<std::string>(subscriptions_)) {
    (void)co_await server_.ask("resources/subscribe", params, limits_.start);
  }
}

Async<void> StandingRequests::listen(std::string discovery) {
  json::object wanted;
  const auto want = [&](const char* name, std::string_view feature) {
    if (offers(discovery, feature, "listChanged")) wanted[name] = true;
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
    const Result<std::uint64_t> sent = server_.request(compose, std::make_shared<IgnoredAnswer>());
    if (sent) listening_ = *sent;
  }
  // The old subscription ends last, so that no notification is missed.
  if (before != 0) server_.abandon(before, {});
  co_return;
}

ClientFacts StandingRequests::client_facts() const {
  ClientFacts facts{.capabilities = json::serialize(client_.capabilities), .info = client_.info};
  const auto level = find(log_level_, {"level"});
  if (level && client_.era == Era::Legacy) facts.log_level = std::string(*level);
  return facts;
}

}  // namespace sallyport::mcp
