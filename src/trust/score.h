// The score of an agent: counts over its trust records, and the level that follows (TR-9..TR-14).
// `trust show` and the console make it from records; live calls use the counts of `Tally` (tally.h).
//
//   ScoreKeeper keeper("deploy-bot", std::nullopt);
//   for (const TrustRecord& record : records) keeper.take(record);
//   keeper.score(Autonomy::ActAuto).level;   // SideEffectLevel::Network
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trust/tally.h"

namespace sallyport::trust {

struct TrustScore {
  std::string agent{};
  std::optional<std::string> action{};  // no value: of all
  std::uint64_t total = 0;
  std::uint64_t successes = 0;
  std::uint64_t failures = 0;
  std::uint64_t denied = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t withheld = 0;
  std::optional<double> success_rate{};
  std::optional<Outcome> latest_outcome{};
  std::optional<std::string> latest_timestamp{};
  Autonomy effective_tier = Autonomy::ActWithApproval;
  SideEffectLevel level = SideEffectLevel::ReadOnly;
};
json::object to_json(const TrustScore& score);

class ScoreKeeper {
 public:
  explicit ScoreKeeper(std::string agent, std::optional<std::string> action = {});

  // Records of other agents and actions are passed over.
  void take(const TrustRecord& record);
  // Takes over the counts of all records, of which some were pruned. Smaller counts change nothing.
  void take_whole(const Tally& whole);
  TrustScore score(Autonomy effective_tier) const;

 private:
  TrustScore score_;  // without what `tally_` counts
  Tally tally_;
};

}  // namespace sallyport::trust
