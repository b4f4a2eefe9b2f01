// The counts behind an agent's score, kept as one fact per agent and changed with each record, so
// that a call can be weighed without reading the chain.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/record/draft.h"
#include "trust/score.h"

namespace sallyport::trust {

inline constexpr std::string_view kTallySpace = "trust_tally";  // by agent

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
  // The level of TR-12 for an agent of this tier.
  SideEffectLevel level(Autonomy tier) const;

  bool operator==(const Tally&) const = default;
};

// Counts this record; null for one that does not count (TR-10).
std::shared_ptr<const core::FactChange> count_in(const TrustRecord& record);

}  // namespace sallyport::trust
