// Limits on what agents spend on models (MP-70 to MP-73). The counters are facts beside the log.
// All processes on the log share them, and they change in the transaction of the entry that spends.
//
//   const Budgets budgets(rules, {agent_id, model, session_id}, now);
//   event.changes.push_back(budgets.reserve(request_id, estimate));  // with the first attempt
//   record.changes.push_back(Budgets::settle(request_id, used));     // with the terminal entry
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/plan/model_rules.h"
#include "core/record/record_reader.h"
#include "llm/api.h"
#include "proxy/settings.h"
#include "sallyport/usage.h"

namespace sallyport::proxy {

struct Amount {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t cost_microusd = 0;

  bool operator==(const Amount&) const = default;
};

using NamedPrice = std::pair<std::string, Price>;  // by the wildcard of its models
// The price of a model; null: none is configured.
const NamedPrice* price_of(const Settings& settings, const std::string& model);
std::uint64_t cost_of(const Price& price, llm::Api api, const Usage& usage);

inline constexpr std::string_view kReservations = "model_reserved";

// How full the budgets of a policy are. Budgets of a request or a session are left out, because
// there is no end of them. Two budgets over the same things are reported as one.
struct BudgetUse {
  std::string agent;  // wildcards, as the policy has them
  std::string model;
  std::string_view per;
  double ratio = 0;  // of the nearest limit; over 1 if more was used than was reserved
};
Result<std::vector<BudgetUse>> budget_uses(const core::ModelRules& rules,
                                           core::RecordReader& records, WallTime now);

struct BudgetCounter {
  core::ModelBudget budget;
  std::string key;           // key of its fact; empty: nothing is counted, as for one request
  std::uint64_t minute = 0;  // the minute in a sliding hour; else 0
};

class Budgets {
 public:
  struct Spender {
    std::string agent_id;
    std::string model;
    std::string session_id;
  };
  Budgets(const core::ModelRules& rules, Spender spender, WallTime now);

  bool any() const { return !fitting_.empty(); }
  // True if a budget in dollars applies, so that the model needs a price.
  bool count_cost() const;
  // `Exhausted` if a budget has no room; the message names it.
  std::shared_ptr<const core::FactChange> reserve(std::string request_id, Amount estimate) const;
  // Replaces the reservation by what was used. Does nothing if there is no reservation.
  static std::shared_ptr<const core::FactChange> settle(std::string request_id, Amount used);

 private:
  class Reserve;
  class Settle;

  std::vector<BudgetCounter> fitting_;
};

}  // namespace sallyport::proxy
