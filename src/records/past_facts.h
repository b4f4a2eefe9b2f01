// Facts as they were when the ledger had `as_of` entries (WB-10).
//
//   FactHistory history(store);            // of one decision, or shared by many
//   PastFacts facts(store, history, as_of);
//   core::ReadingRecorder records(facts);
//   ...                                    // decide
//   if (!facts.unknown().empty()) ...      // the decision asked for what entries do not tell
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/record/record_reader.h"
#include "ledger/store.h"
#include "records/fact_history.h"

namespace sallyport::app {

// Used on one thread. `store` and `history` must outlive it.
class PastFacts final : public core::RecordReader {
 public:
  PastFacts(ledger::LedgerStore& store, FactHistory& history, std::uint64_t as_of)
      : store_(store), history_(history), as_of_(as_of) {}

  // Sets a fact that the record of the call has, such as the workspace of its session.
  void set(std::string space, std::string key, std::optional<std::string> value);

  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override;
  Result<std::vector<core::Fact>> facts(std::string_view space) override;
  Result<json::object> entry(std::uint64_t sequence) override;
  Result<Moment> moment(const std::vector<core::FactKey>& keys) override;

  // Describes the facts that were asked for and can no longer be recomputed.
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  ledger::LedgerStore& store_;
  FactHistory& history_;
  std::uint64_t as_of_;
  std::map<core::FactKey, std::optional<std::string>> set_;
  std::set<std::string> unknown_;
};

}  // namespace sallyport::app
