#include "records/past_facts.h"

#include "base/try.h"
#include "core/plan/policy_text.h"
#include "ledger/read/store_reader.h"

namespace sallyport::app {

void PastFacts::set(std::string space, std::string key, std::optional<std::string> value) {
  set_[{std::move(space), std::move(key)}] = std::move(value);
}

Result<std::optional<std::string>> PastFacts::fact(std::string_view space, std::string_view key) {
  const auto found = set_.find({std::string(space), std::string(key)});
  if (found != set_.end()) return found->second;
  if (FactHistory::knows(space)) return history_.fact(space, std::string(key), as_of_, unknown_);
  // These never change once they are there.
  if (space == "ledger" || space == core::kPolicyText) {
    return ledger::StoreReader(store_).fact(space, key);
  }
  return std::nullopt;
}

Result<std::vector<core::Fact>> PastFacts::facts(std::string_view space) {
  SALLYPORT_TRY(std::vector<core::Fact> found, history_.facts(space, as_of_, unknown_));
  for (const auto& [key, value] : set_) {
    if (key.space == space && value) found.push_back({key.space, key.key, value});
  }
  return found;
}

Result<json::object> PastFacts::entry(std::uint64_t sequence) {
  return ledger::StoreReader(store_).entry(sequence);
}

Result<core::RecordReader::Moment> PastFacts::moment(const std::vector<core::FactKey>& keys) {
  SALLYPORT_TRY(Moment moment, core::RecordReader::moment(keys));
  moment.size = as_of_;
  return moment;
}

}  // namespace sallyport::app
