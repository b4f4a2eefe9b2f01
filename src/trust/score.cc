#include "trust/score.h"

#include <boost/json.hpp>

#include "core/record/shape_fields.h"

namespace sallyport::trust {

ScoreKeeper::ScoreKeeper(std::string agent, std::optional<std::string> action) {
  score_.agent = std::move(agent);
  score_.action = std::move(action);
}

void ScoreKeeper::take(const TrustRecord& record) {
  if (record.agent != score_.agent) return;
  if (score_.action && record.action != *score_.action) return;
  ++score_.total;
  score_.latest_timestamp = record.timestamp;
  if (record.is_control()) return;
  if (record.is_withheld()) {
    ++score_.withheld;
    return;
  }
  tally_.take(record.outcome);
}

void ScoreKeeper::take_whole(const Tally& whole) {
  // The counts are of all actions.
  if (score_.action || whole.total() <= tally_.total()) return;
  score_.total += whole.total() - tally_.total();
  tally_ = whole;
}

TrustScore ScoreKeeper::score(Autonomy effective_tier) const {
  TrustScore score = score_;
  score.successes = tally_.successes;
  score.failures = tally_.failures;
  score.denied = tally_.denied;
  score.timeouts = tally_.timeouts;
  score.success_rate = tally_.success_rate();
  score.latest_outcome = tally_.latest;
  score.effective_tier = effective_tier;
  score.level = tally_.level(effective_tier);
  return score;
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
