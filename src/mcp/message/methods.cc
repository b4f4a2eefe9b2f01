#include "mcp/message/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/cut_text.h"

namespace sallyport::mcp {

namespace {

constexpr auto kClientRequests = std::to_array<std::string_view>({
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
});

// A client of sessions may keep tasks as well.
constexpr auto kServerRequests = std::to_array<std::string_view>({
    "elicitation/create",
    "ping",
    "roots/list",
    "sampling/createMessage",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
});

constexpr auto kClientNotifications = std::to_array<std::string_view>({
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
});

constexpr auto kServerNotifications = std::to_array<std::string_view>({
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/message",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tasks/status",
    "notifications/tools/list_changed",
});

static_assert(std::ranges::is_sorted(kClientRequests));
static_assert(std::ranges::is_sorted(kServerRequests));
static_assert(std::ranges::is_sorted(kClientNotifications));
static_assert(std::ranges::is_sorted(kServerNotifications));

}  // namespace

std::string_view to_string(Side side) {
  return side == Side::Client ? "client" : "server";
}

bool is_known(Side from, const Message& message) {
  const std::string_view method = message.method;
  switch (message.kind) {
    case Message::Kind::Request:
      return from == Side::Client ? std::ranges::binary_search(kClientRequests, method)
                                  : std::ranges::binary_search(kServerRequests, method);
    case Message::Kind::Notification:
      return from == Side::Client ? std::ranges::binary_search(kClientNotifications, method)
                                  : std::ranges::binary_search(kServerNotifications, method);
    case Message::Kind::Response:
      return true;
  }
  return false;
}

std::string unknown_method(std::string_view method) {
  constexpr std::size_t kShown = 200;
  return fmt::format(
      "Method not found: `{0}` is not a method of the protocol; a policy lets it pass with `mcp: "
      "{{allow_methods: [{0}]}}`",
      readable(cut_utf8_bytes(method, kShown)));
}

bool is_request_name(std::string_view name) {
  return std::ranges::binary_search(kClientRequests, name) ||
         std::ranges::binary_search(kServerRequests, name);
}

}  // namespace sallyport::mcp
