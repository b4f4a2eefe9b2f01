// What the record of an agent says about it, and the level that follows from it (TR-9..TR-14).
//
//   ScoreKeeper keeper("deploy-bot", std::nullopt);
//   for (const TrustRecord& record : records) keeper.take(record);
//   keeper.score(Autonomy::ActAuto).level;   // SideEffectLevel::Network
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trust/trust_record.h"

namespace sallyport::trust {

enum class SideEffectLevel { None, ReadOnly, WorkspaceWrite, ProcessExec, Network };
std::string_view to_string(SideEffectLevel level);

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
  TrustScore score(Autonomy effective_tier) const;

 private:
  TrustScore counted_;
};

// The level of a tier, lowered by what the record shows (TR-12). Never raised by it.
SideEffectLevel derived_level(const TrustScore& score);

// What the level does to a side-effecting call where `trust.enforce` is on (TR-13); no value: it
// lowers none.
std::optional<Autonomy> tier_cap(SideEffectLevel level);

}  // namespace sallyport::trust
