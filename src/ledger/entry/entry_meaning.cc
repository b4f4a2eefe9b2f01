#include "ledger/entry/entry_meaning.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <optional>

namespace sallyport::ledger {

namespace {

struct Severity {
  std::string_view name;
  int value;
};

// The severity of a call's end: a refusal is above success, and a lost record is above both.
constexpr auto kOutcomes = std::to_array<Severity>({
    {"cached", 2},
    {"replayed", 2},
    {"completed", 3},
    {"requires_confirmation", 5},
    {"blocked", 6},
    {"invalidated", 6},
    {"persistence_failed", 8},
});

// Times without full protection, and signs of an attacker or a restored backup.
constexpr auto kControls = std::to_array<Severity>({
    {"clock_step", 3},
    {"erased", 3},
    {"key_rotated", 3},
    {"policy_rejected", 3},
    {"pruned", 3},
    {"fail_open_started", 8},
    {"refused_control", 9},
    {"rollback_acknowledged", 9},
    {"witness_refused", 9},
});

constexpr auto kKinds = std::to_array<Severity>({
    {"intent", 2},
    {"grant", 2},
    {"approval", 3},
    {"guard_hit", 3},
    {"hook_failed", 3},
    {"trust", 3},
});
constexpr int kUncleanGap = 5;
constexpr int kElse = 1;

template <std::size_t N>
std::optional<int> find_in(const std::array<Severity, N>& table, std::string_view name) {
  for (const Severity& row : table) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

}  // namespace

EntryMeaning meaning_of(const EntryView& entry, const json::object& body) {
  if (!entry.outcome.empty()) {
    const std::optional<int> severity = find_in(kOutcomes, entry.outcome);
    return {entry.kind + "." + entry.outcome,
            severity ? *severity : find_in(kKinds, entry.kind).value_or(kElse)};
  }
  const json::value* const name = entry.kind == "control" ? body.if_contains("control") : nullptr;
  if (name == nullptr || !name->is_string()) {
    return {entry.kind, find_in(kKinds, entry.kind).value_or(kElse)};
  }
  const std::string_view control = name->get_string();
  const json::value* const clean = control == "gap" ? body.if_contains("clean") : nullptr;
  const bool unclean = clean != nullptr && *clean == json::value(false);
  return {fmt::format("control.{}", control),
          unclean ? kUncleanGap : find_in(kControls, control).value_or(kElse)};
}

}  // namespace sallyport::ledger
