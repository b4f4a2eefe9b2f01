// What agents may spend on models (MP-70 to MP-73). Counters are facts beside the log: shared by
// all processes on it, and changed inside the transaction of the entry that spends.
//
//   Budgets budgets(rules, settings, {agent, model, session}, now);
//   event.changes.push_back(budgets.reserve(request_id, estimate));   // with the first attempt
//   record.changes.push_back(Budgets::settle(request_id, used, now)); // with the terminal entry
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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

// The price of a model; null: none is configured.
const Price* price_of(const Settings& settings, const std::string& model);
std::uint64_t cost_of(const Price& price, llm::Api api, const Usage& usage);

inline constexpr std::string_view kReservations = "model_reserved";

// How full the budgets of a policy are. Not those of a request or a session, of which there is no
// end; two over the same things are told as one.
struct BudgetUse {
  std::string agent;  // wildcards, as the policy has them
  std::string model;
  std::string_view per;
  double ratio = 0;  // of the limit that is nearest; over 1 where more was used than reserved
};
Result<std::vector<BudgetUse>> budget_uses(const core::ModelRules& rules,
                                           core::RecordReader& records, WallTime now);

struct BudgetCounter {
  core::ModelBudget budget;
  std::string key;           // of its fact; empty: it counts nothing, as for one request
  std::uint64_t minute = 0;  // of a sliding hour; else 0
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
  // A budget in dollars fits: the model needs a price.
  bool count_cost() const;
  // Refuses with `Exhausted` where one of them has no room; the message says which.
  std::shared_ptr<const core::FactChange> reserve(std::string request_id, Amount estimate) const;
  // What was used replaces what was reserved. Nothing happens where nothing was.
  static std::shared_ptr<const core::FactChange> settle(std::string request_id, Amount used);

 private:
  class Reserve;
  class Settle;

  std::vector<BudgetCounter> fitting_;
};

}  // namespace sallyport::proxy
