#include "core/record/draft.h"

#include <array>
#include <charconv>

#include "base/try.h"

namespace sallyport::core {

namespace {
// In the order of the enumeration.
constexpr auto kEntryKinds = std::to_array<std::string_view>(
    {"event", "intent", "tool_audit", "guard_hit", "approval", "trust", "grant", "topic",
     "hook_failed", "control", "model_audit"});

class Introduction final : public FactChange {
 public:
  explicit Introduction(std::vector<Fact> facts) : facts_(std::move(facts)) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    std::vector<Fact> unknown;
    for (const Fact& fact : facts_) {
      SALLYPORT_TRY(const std::optional<std::string> known, stored(fact.space, fact.key));
      if (!known) unknown.push_back(fact);
    }
    return unknown;
  }

 private:
  std::vector<Fact> facts_;
};
}  // namespace

std::shared_ptr<const FactChange> unless_stored(std::vector<Fact> facts) {
  return std::make_shared<Introduction>(std::move(facts));
}

std::span<const std::string_view> kind_words() {
  return kEntryKinds;
}

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
