#include "records/agent_trust.h"

#include <boost/json.hpp>
#include <deque>

#include "base/json_members.h"
#include "base/try.h"
#include "core/plan/policy_text.h"
#include "core/record/shape_fields.h"
#include "policy/policy.h"
#include "records/trust_records.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostCalls = 5;

// Gathers the trust records of one agent.
class Gathering {
 public:
  explicit Gathering(const std::string& agent) : keeper_(agent) {}

  void take(const trust::TrustRecord& record) {
    keeper_.take(record);
    history_.take(record, keeper_.score(Autonomy::ActWithApproval));
    if (!first_at_) first_at_ = record.timestamp;
    const auto call = text_in(record.metadata, "call_id");
    if (!call || record.is_control() || record.is_withheld()) return;
    calls_.emplace_back(*call);
    if (calls_.size() > kMostCalls) calls_.pop_front();
  }

  void take_whole(const trust::Tally& whole) { keeper_.take_whole(whole); }

  AgentTrust result(AgentTier tier) const {
    return {.score = keeper_.score(tier.tier),
            .tier = std::move(tier),
            .history = history_.points(),
            .calls = {calls_.begin(), calls_.end()},
            .first_at = first_at_};
  }

 private:
  trust::ScoreKeeper keeper_;
  ScoreHistory history_;
  std::deque<std::string> calls_;
  std::optional<std::string> first_at_;
};

Autonomy above(Autonomy tier) {
  switch (tier) {
    case Autonomy::Shadow:
      return Autonomy::Suggest;
    case Autonomy::Suggest:
      return Autonomy::ActWithApproval;
    case Autonomy::ActWithApproval:
    case Autonomy::ActAuto:
      return Autonomy::ActAuto;
  }
  return tier;
}

}  // namespace

Result<DeclaredTiers> DeclaredTiers::read(core::RecordReader& records) {
  SALLYPORT_TRY(const auto hash, records.fact("policy", "hash"));
  if (!hash) return DeclaredTiers();
  SALLYPORT_TRY(const auto kept, core::kept_policy(records, *hash));
  if (!kept) return DeclaredTiers();
  const Result<policy::Policy> read = policy::read_policy(kept->text, kept->source);
  // A text of a newer release declares nothing here.
  if (!read || !read->autonomy) return DeclaredTiers();
  DeclaredTiers tiers;
  tiers.find_ = [rules = *read->autonomy](const std::string& agent) -> std::optional<AgentTier> {
    const auto declared = rules.tier_for({.agent = agent});
    if (!declared) return std::nullopt;
    return AgentTier{declared->tier, std::string(autonomy::to_string(declared->member))};
  };
  return tiers;
}

DeclaredTiers DeclaredTiers::fixed(Autonomy tier) {
  DeclaredTiers tiers;
  tiers.find_ = [tier](const std::string&) { return AgentTier{tier, "declared"}; };
  return tiers;
}

AgentTier DeclaredTiers::of(const std::string& agent) const {
  return (find_ ? find_(agent) : std::nullopt).value_or(AgentTier{});
}

AgentTier tier_of(const trust::Standing& standing, const AgentTier& declared) {
  AgentTier tier = declared;
  if (standing.promoted_to) tier = {*standing.promoted_to, "promotion"};
  const bool lowers = standing.demoted_to && *standing.demoted_to < tier.tier;
  return lowers ? AgentTier{*standing.demoted_to, "demotion"} : tier;
}

Result<std::map<std::string, trust::Tally>> tallies_of(core::RecordReader& records,
                                                       const std::optional<std::string>& agent) {
  std::map<std::string, trust::Tally> tallies;
  SALLYPORT_TRY(const std::vector<core::Fact> stored, records.facts(trust::kTallySpace));
  for (const core::Fact& fact : stored) {
    if (agent && fact.key != *agent) continue;
    // Unreadable counts lower the tier of live calls. Here the records that are left count.
    const Result<trust::Tally> tally = trust::Tally::parse(fact.value.value_or(""));
    if (tally) tallies.emplace(fact.key, *tally);
  }
  return tallies;
}

void ScoreHistory::take(const trust::TrustRecord& record, const trust::TrustScore& score) {
  last_ = {record.timestamp, score.total, score.successes, score.success_rate};
  if (seen_++ % step_ != 0) return;
  kept_.push_back(*last_);
  if (kept_.size() < kMost) return;
  // Drops every second point. From here on half as many are added.
  for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize((kept_.size() + 1) / 2);
  step_ *= 2;
}

std::vector<ScorePoint> ScoreHistory::points() const {
  std::vector<ScorePoint> all = kept_;
  if (last_ && (seen_ - 1) % step_ != 0) all.push_back(*last_);
  return all;
}

std::optional<TierProposal> AgentTrust::proposal() const {
  const std::uint64_t counted = score.successes + score.failures + score.denied + score.timeouts;
  const bool succeeds = score.latest_outcome == trust::Outcome::Success;
  if (tier.tier != Autonomy::ActAuto && counted >= kRecordsToPropose && succeeds &&
      score.success_rate.value_or(0) >= kRateToPropose) {
    return TierProposal{"trust.promote", tier.tier, above(tier.tier), "record_is_good"};
  }
  if (tier.tier == Autonomy::ActAuto && counted >= 3 && score.success_rate.value_or(1) < 0.5) {
    return TierProposal{"trust.demote", tier.tier, Autonomy::ActWithApproval, "record_is_bad"};
  }
  return std::nullopt;
}

Result<std::map<std::string, AgentTrust>> agents_of(ledger::ReadView& view,
                                                    core::RecordReader& records,
                                                    const AgentQuery& query) {
  std::map<std::string, Gathering> all;
  if (query.agent) all.try_emplace(*query.agent, *query.agent);
  SALLYPORT_CHECK_OK(each_trust_record(view, [&](const trust::TrustRecord& record) {
    if (query.agent && record.agent != *query.agent) return;
    all.try_emplace(record.agent, record.agent).first->second.take(record);
  }));
  SALLYPORT_TRY(const auto tallies, tallies_of(records, query.agent));
  for (const auto& [agent, whole] : tallies) {
    all.try_emplace(agent, agent).first->second.take_whole(whole);
  }
  std::map<std::string, AgentTrust> agents;
  for (const auto& [agent, gathered] : all) {
    SALLYPORT_TRY(const trust::Standing standing, trust::standing_of(records, agent, query.people));
    agents.emplace(agent, gathered.result(tier_of(standing, query.declared.of(agent))));
  }
  return agents;
}

json::object to_json(const AgentTrust& agent) {
  return {{"agent", agent.score.agent},
          {"tier", to_string(agent.tier.tier)},
          {"source", agent.tier.source},
          {"score", trust::to_json(agent.score)}};
}

json::array to_json(const std::vector<ScorePoint>& history) {
  json::array all;
  for (const ScorePoint& point : history) {
    all.push_back(json::object{{"at", point.at},
                               {"total", point.total},
                               {"successes", point.successes},
                               {"success_rate", core::or_null(point.success_rate)}});
  }
  return all;
}

json::object to_json(const TierProposal& proposal, const AgentTrust& evidence) {
  const trust::TrustScore& score = evidence.score;
  return {{"action", proposal.action},
          {"agent", score.agent},
          {"from_tier", to_string(proposal.from)},
          {"to_tier", to_string(proposal.to)},
          {"why", proposal.why},
          {"evidence", json::object{{"total", score.total},
                                    {"successes", score.successes},
                                    {"failures", score.failures},
                                    {"denied", score.denied},
                                    {"timeouts", score.timeouts},
                                    {"withheld", score.withheld},
                                    {"success_rate", core::or_null(score.success_rate)},
                                    {"first_at", core::or_null(evidence.first_at)},
                                    {"latest_at", core::or_null(score.latest_timestamp)},
                                    {"calls", json::value_from(evidence.calls)}}}};
}

}  // namespace sallyport::app
