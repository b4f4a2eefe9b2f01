#include "core/record/draft.h"

#include <array>
#include <charconv>

namespace sallyport::core {

namespace {
// In the order of the enumeration.
constexpr auto kEntryKinds = std::to_array<std::string_view>(
    {"event", "intent", "tool_audit", "guard_hit", "approval", "trust", "grant", "topic",
     "hook_failed", "control", "model_audit"});
}  // namespace

std::string_view to_string(Kind kind) {
  return kEntryKinds[static_cast<std::size_t>(kind)];
}

std::optional<Kind> kind_from(std::string_view text) {
  for (std::size_t i = 0; i < kEntryKinds.size(); ++i) {
    if (kEntryKinds[i] == text) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

std::optional<Placed> split_place(std::string_view stored) {
  const std::size_t at = stored.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  Placed placed{.value = std::string(stored.substr(0, at))};
  const char* const end = stored.data() + stored.size();
  const auto read = std::from_chars(stored.data() + at + 1, end, placed.sequence);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return placed;
}

}  // namespace sallyport::core
