// The counts behind an agent's score, kept as one fact per agent and changed with each record. Live
// calls are weighed by them, so that no call reads the chain; reports use `ScoreKeeper` (score.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/record/draft.h"
#include "trust/trust_record.h"

namespace sallyport::trust {

inline constexpr std::string_view kTallySpace = "trust_tally";  // by agent

// The words of TR-11. A tier gives None, ReadOnly or Network (TR-12).
enum class SideEffectLevel { None, ReadOnly, WorkspaceWrite, ProcessExec, Network };
std::string_view to_string(SideEffectLevel level);

struct Tally {
  std::uint64_t successes = 0;
  std::uint64_t failures = 0;
  std::uint64_t denied = 0;
  std::uint64_t timeouts = 0;
  std::optional<Outcome> latest{};

  // An empty text counts nothing. `Corrupt`: no release of ours wrote this.
  static Result<Tally> parse(std::string_view stored);
  std::string text() const;

  void take(Outcome outcome);
  std::uint64_t total() const { return successes + failures + denied + timeouts; }
  std::optional<double> success_rate() const;  // no value: nothing is counted
  // The level of a tier, lowered if the latest call went wrong or most calls did. The counts never
  // raise it (TR-12).
  SideEffectLevel level(Autonomy tier) const;

  bool operator==(const Tally&) const = default;
};

// Counts this record; null for one that does not count (TR-10).
std::shared_ptr<const core::FactChange> count_in(const TrustRecord& record);

// The highest tier of a side-effecting call at this level, if `trust.enforce` is on (TR-13). No
// value: there is no limit.
std::optional<Autonomy> tier_cap(SideEffectLevel level);

}  // namespace sallyport::trust
