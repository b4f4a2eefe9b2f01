#include "trust/score.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "core/record/shape_fields.h"

namespace sallyport::trust {

namespace {

constexpr std::array<std::string_view, 5> kLevels = {"none", "read_only", "workspace_write",
                                                     "process_exec", "network"};
constexpr std::uint64_t kEnoughToJudge = 3;

std::uint64_t counted(const TrustScore& score) {
  return score.successes + score.failures + score.denied + score.timeouts;
}

SideEffectLevel level_of(Autonomy tier) {
  if (tier == Autonomy::Shadow) return SideEffectLevel::None;
  return tier == Autonomy::ActAuto ? SideEffectLevel::Network : SideEffectLevel::ReadOnly;
}

}  // namespace

std::string_view to_string(SideEffectLevel level) {
  return kLevels[static_cast<std::size_t>(level)];
}

ScoreKeeper::ScoreKeeper(std::string agent, std::optional<std::string> action) {
  counted_.agent = std::move(agent);
  counted_.action = std::move(action);
}

void ScoreKeeper::take(const TrustRecord& record) {
  if (record.agent != counted_.agent) return;
  if (counted_.action && record.action != *counted_.action) return;
  ++counted_.total;
  counted_.latest_timestamp = record.timestamp;
  if (record.is_control()) return;
  if (record.is_withheld()) {
    ++counted_.withheld;
    return;
  }
  counted_.latest_outcome = record.outcome;
  switch (record.outcome) {
    case Outcome::Success:
      ++counted_.successes;
      break;
    case Outcome::Failure:
      ++counted_.failures;
      break;
    case Outcome::Denied:
      ++counted_.denied;
      break;
    case Outcome::Timeout:
      ++counted_.timeouts;
      break;
  }
}

TrustScore ScoreKeeper::score(Autonomy effective_tier) const {
  TrustScore score = counted_;
  if (const std::uint64_t all = counted(score); all > 0) {
    score.success_rate = static_cast<double>(score.successes) / static_cast<double>(all);
  }
  score.effective_tier = effective_tier;
  score.level = derived_level(score);
  return score;
}

SideEffectLevel derived_level(const TrustScore& score) {
  const SideEffectLevel level = level_of(score.effective_tier);
  const bool went_wrong = score.latest_outcome && *score.latest_outcome != Outcome::Success;
  const bool mostly_wrong =
      counted(score) >= kEnoughToJudge && score.success_rate && *score.success_rate < 0.5;
  return went_wrong || mostly_wrong ? std::min(level, SideEffectLevel::ReadOnly) : level;
}

std::optional<Autonomy> tier_cap(SideEffectLevel level) {
  if (level == SideEffectLevel::None) return Autonomy::Shadow;
  if (level == SideEffectLevel::ReadOnly) return Autonomy::ActWithApproval;
  return std::nullopt;
}

json::object to_json(const TrustScore& score) {
  json::object object{{"agent", score.agent},
                      {"action", core::or_null(score.action)},
                      {"total", score.total},
                      {"successes", score.successes},
                      {"failures", score.failures},
                      {"denied", score.denied},
                      {"timeouts", score.timeouts},
                      {"withheld", score.withheld},
                      {"success_rate", core::or_null(score.success_rate)},
                      {"latest_outcome", nullptr},
                      {"latest_timestamp", core::or_null(score.latest_timestamp)},
                      {"effective_tier", to_string(score.effective_tier)},
                      {"policy", json::object{{"side_effect_level", to_string(score.level)}}}};
  if (score.latest_outcome) object["latest_outcome"] = to_string(*score.latest_outcome);
  return object;
}

}  // namespace sallyport::trust
