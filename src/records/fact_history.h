// Facts of earlier moments, recomputed from entries alone (WB-10): promotions and demotions, trust
// tallies, budgets of autonomy and of grants, revocations, held-back tools. Each entry is read once
// as long as the requested moments only advance, so many decisions cost one pass over the ledger.
//
//   FactHistory history(store);
//   history.fact("trust_tally", "agent", 120);   // as it was when there were 120 entries
//   history.fact("trust_tally", "agent", 480);   // reads entries 120 to 479
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autonomy/auto_use.h"
#include "core/record/draft.h"
#include "ledger/read/query.h"
#include "records/budget_history.h"
#include "trust/standing.h"
#include "trust/tally.h"

namespace sallyport::app {

// Used on one thread. `store` must outlive it.
class FactHistory {
 public:
  explicit FactHistory(ledger::LedgerStore& store);

  // True if this class knows the facts of the space.
  static bool knows(std::string_view space);
  // Adds a token: entries do not have its rates and ancestors.
  void add_token(const grants::TokenChain& chain);
  // Describes in `unknown` what can no longer be recomputed.
  Result<std::optional<std::string>> fact(std::string_view space, const std::string& key,
                                          std::uint64_t as_of, std::set<std::string>& unknown);
  Result<std::vector<core::Fact>> facts(std::string_view space, std::uint64_t as_of,
                                        std::set<std::string>& unknown);

 private:
  using Take = void (FactHistory::*)(const json::object& entry, const json::object& body);
  // The entries of one kind, read up to a place.
  struct Lane {
    std::map<ledger::Facet, std::string> facets{};
    Take take = nullptr;
    std::uint64_t next = 0;
  };
  // The automatic calls of an agent under policies with a budget.
  struct Use {
    autonomy::AutoUse counted{};
    bool any = false;
    std::set<std::string> unknown{};
  };

  Lane* lane_of(std::string_view space);
  Result<void> advance(Lane& lane, std::uint64_t as_of, std::set<std::string>& unknown);
  void forget(const Lane& lane);
  void take_trust(const json::object& entry, const json::object& body);
  void take_intent(const json::object& entry, const json::object& body);
  void take_control(const json::object& entry, const json::object& body);
  void take_pin(const json::object& entry, const json::object& body);
  void take_budget(const json::object& entry, const json::object& body);
  Result<bool> has_budget(const std::string& policy_hash, Use& use);
  Result<WallTime> decided(const json::object& entry, const json::object& body);

  ledger::LedgerStore& store_;
  Lane trust_;
  Lane intents_;
  Lane controls_;
  Lane pins_;
  Lane all_;  // for the budgets of grants
  BudgetHistory grants_;
  std::optional<Error> failed_;                             // of a lane that could not advance
  std::map<std::string, trust::ControlHistory> standings_;  // by agent, as are those below
  std::map<std::string, trust::Tally> tallies_;
  std::map<std::string, Use> uses_;
  std::map<std::string, std::optional<bool>> budgets_;  // by hash of a policy; no value: not kept
  std::map<core::FactKey, std::string> placed_;         // revocations and pins
};

}  // namespace sallyport::app
