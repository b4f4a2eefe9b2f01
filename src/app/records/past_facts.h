// Facts as they were when the ledger had `as_of` entries, recomputed from entries alone (WB-10):
// promotions and demotions, trust tallies, autonomy budgets, revocations, held-back tools.
//
//   PastFacts facts(store, as_of, at);
//   core::ReadingRecorder records(facts);
//   ...                                    // decide
//   if (!facts.unknown().empty()) ...      // the decision asked for what entries do not tell
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/record/recorder.h"
#include "ledger/store.h"

namespace sallyport::app {

// One thread. `store` must outlive it.
class PastFacts final : public core::RecordReader {
 public:
  // `at`: the time of the decision, which budgets are counted to.
  PastFacts(ledger::LedgerStore& store, std::uint64_t as_of, WallTime at)
      : store_(store), as_of_(as_of), at_(at) {}

  // A fact that the record of the call says, such as the workspace of its session.
  void set(std::string space, std::string key, std::optional<std::string> value);

  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override;
  Result<std::vector<core::Fact>> facts(std::string_view space) override;
  Result<json::object> entry(std::uint64_t sequence) override;
  Result<Moment> moment(const std::vector<core::FactKey>& keys) override;

  // What was asked for and cannot be told any more, in words.
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  using Visit = std::function<Result<void>(const json::object& entry, const json::object& body)>;
  Result<void> each(std::map<ledger::Facet, std::string> facets, const Visit& visit);
  Result<std::optional<std::string>> compute(std::string_view space, const std::string& key);
  Result<std::optional<std::string>> standing(const std::string& agent);
  Result<std::optional<std::string>> tally(const std::string& agent);
  Result<std::optional<std::string>> use(const std::string& agent);
  Result<std::optional<std::string>> revoked(const std::string& id);
  Result<void> read_pins();
  Result<bool> has_budget(const std::string& policy_hash);
  Result<WallTime> decided(const json::object& entry, const json::object& body);

  ledger::LedgerStore& store_;
  std::uint64_t as_of_;
  WallTime at_;
  std::map<core::FactKey, std::optional<std::string>> known_;
  std::map<std::string, bool> budgets_;  // by hash of the policy
  bool pins_read_ = false;
  std::set<std::string> unknown_;
};

}  // namespace sallyport::app
