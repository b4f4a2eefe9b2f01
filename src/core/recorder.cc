#include "core/recorder.h"

#include <array>

namespace sallyport::core {

namespace {
// In the order of the enumeration.
constexpr auto kKinds =
    std::to_array<std::string_view>({"event", "intent", "tool_audit", "guard_hit", "approval",
                                     "trust", "grant", "topic", "hook_failed", "control"});
}  // namespace

std::string_view to_string(Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

std::optional<Kind> kind_from(std::string_view text) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == text) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

}  // namespace sallyport::core
