#include "core/decision/decision_facts.h"

#include "base/try.h"

namespace sallyport::core {

Result<std::optional<std::string>> DecisionFacts::fact(std::string_view space,
                                                       std::string_view key) {
  FactKey wanted{std::string(space), std::string(key)};
  if (const auto found = known_.find(wanted); found != known_.end()) return found->second;
  SALLYPORT_TRY(Moment moment, records_.moment({wanted}));
  if (size_ && *size_ != moment.size && !known_.empty()) {
    std::vector<FactKey> all = keys();
    all.push_back(wanted);
    SALLYPORT_TRY(moment, records_.moment(all));
    std::size_t i = 0;
    for (const auto& [each, value] : known_) torn_ = torn_ || moment.values[i++] != value;
  }
  size_ = moment.size;
  std::optional<std::string> value = std::move(moment.values.back());
  known_.emplace(std::move(wanted), value);
  return value;
}

Result<void> DecisionFacts::read_again() {
  SALLYPORT_TRY(Moment moment, records_.moment(keys()));
  std::size_t i = 0;
  for (auto& [each, value] : known_) value = std::move(moment.values[i++]);
  size_ = moment.size;
  torn_ = false;
  return {};
}

std::vector<FactKey> DecisionFacts::keys() const {
  std::vector<FactKey> all;
  for (const auto& [key, value] : known_) all.push_back(key);
  return all;
}

std::uint64_t DecisionFacts::as_of() {
  if (!size_) size_ = records_.size_seen();
  return *size_;
}

}  // namespace sallyport::core
