// The standing of agents: the counts of their trust records, the tier in force and its source. The
// command line and the HTTP API use the same functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/approval_rules.h"
#include "core/record/record_reader.h"
#include "ledger/store.h"
#include "trust/score.h"
#include "trust/standing.h"

namespace sallyport::app {

// The tier that holds for an agent, before rules and classes of single calls.
struct AgentTier {
  Autonomy tier = Autonomy::ActWithApproval;
  std::string source = "default";  // promotion, demotion, agent_tiers, autonomy_tier, tier, default
};

// The tiers that the last policy in force declares for agents. A ledger without a policy text
// declares nothing, so the default counts.
class DeclaredTiers {
 public:
  static Result<DeclaredTiers> read(core::RecordReader& records);
  // The same tier for all agents, as the command line names it.
  static DeclaredTiers fixed(Autonomy tier);

  AgentTier of(const std::string& agent) const;

 private:
  std::function<std::optional<AgentTier>(const std::string&)> find_{};
};

AgentTier tier_of(const trust::Standing& standing, const AgentTier& declared);

// The counts of all trust records, by agent. They stay when records are pruned. Only of `agent`, if
// there is one.
Result<std::map<std::string, trust::Tally>> tallies_of(core::RecordReader& records,
                                                       const std::optional<std::string>& agent);

// The counts after one record, for charts.
struct ScorePoint {
  std::string at{};
  std::uint64_t total = 0;
  std::uint64_t successes = 0;
  std::optional<double> success_rate{};
};

// The counts of one agent as they grew: at most `kMost` points, evenly over its records, the last
// one among them.
class ScoreHistory {
 public:
  static constexpr std::size_t kMost = 200;

  void take(const trust::TrustRecord& record, const trust::TrustScore& score);
  std::vector<ScorePoint> points() const;

 private:
  std::vector<ScorePoint> kept_;
  std::optional<ScorePoint> last_;
  std::uint64_t seen_ = 0;
  std::uint64_t step_ = 1;  // every `step_`th point is kept
};

// A change of tier that the record of an agent suggests. It takes effect only if a controller signs
// it (TR-14).
struct TierProposal {
  std::string action{};  // trust.promote, trust.demote
  Autonomy from = Autonomy::ActWithApproval;
  Autonomy to = Autonomy::ActWithApproval;
  std::string why{};  // record_is_good, record_is_bad
};

struct AgentTrust {
  trust::TrustScore score{};
  AgentTier tier{};
  std::vector<ScorePoint> history{};
  std::vector<std::string> calls{};  // the newest that were counted, oldest first
  std::optional<std::string> first_at{};

  std::optional<TierProposal> proposal() const;
};

// The record that an agent needs before a promotion is proposed.
inline constexpr std::uint64_t kRecordsToPropose = 20;
inline constexpr double kRateToPropose = 0.95;

struct AgentQuery {
  std::optional<std::string> agent{};  // no value: all
  const DeclaredTiers& declared;
  const core::ReviewerBook* people = nullptr;
};
// By agent. A requested agent without records is included, with zero counts.
Result<std::map<std::string, AgentTrust>> agents_of(ledger::ReadView& view,
                                                    core::RecordReader& records,
                                                    const AgentQuery& query);

json::object to_json(const AgentTrust& agent);
json::array to_json(const std::vector<ScorePoint>& history);
json::object to_json(const TierProposal& proposal, const AgentTrust& evidence);

}  // namespace sallyport::app
