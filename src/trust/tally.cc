#include "trust/tally.h"

#include <fmt/format.h>

#include <charconv>

#include "base/try.h"

namespace sallyport::trust {

namespace {

class CountRecord final : public core::FactChange {
 public:
  CountRecord(std::string agent, Outcome outcome) : agent_(std::move(agent)), outcome_(outcome) {}

  // Counts that cannot be read stay as they are: the tier that is weighed by them is lowered.
  Result<std::vector<core::Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const std::optional<std::string> before, stored(kTallySpace, agent_));
    Result<Tally> tally = Tally::parse(before.value_or(""));
    if (!tally) return std::vector<core::Fact>{};
    tally->take(outcome_);
    return std::vector{core::Fact{std::string(kTallySpace), agent_, tally->text()}};
  }

 private:
  std::string agent_;
  Outcome outcome_;
};

}  // namespace

// `successes failures denied timeouts latest`.
Result<Tally> Tally::parse(std::string_view stored) {
  Tally tally;
  if (stored.empty()) return tally;
  const auto corrupt = [] {
    return fail(ErrorCode::Corrupt, "the counts of an agent cannot be read");
  };
  for (std::uint64_t* const count :
       {&tally.successes, &tally.failures, &tally.denied, &tally.timeouts}) {
    const char* const end = stored.data() + stored.size();
    const auto [at, code] = std::from_chars(stored.data(), end, *count);
    if (code != std::errc() || at == end || *at != ' ') return corrupt();
    stored.remove_prefix(static_cast<std::size_t>(at - stored.data()) + 1);
  }
  tally.latest = outcome_from(stored);
  if (!tally.latest) return corrupt();
  return tally;
}

std::string Tally::text() const {
  if (!latest) return {};
  return fmt::format("{} {} {} {} {}", successes, failures, denied, timeouts, to_string(*latest));
}

void Tally::take(Outcome outcome) {
  latest = outcome;
  switch (outcome) {
    case Outcome::Success:
      ++successes;
      break;
    case Outcome::Failure:
      ++failures;
      break;
    case Outcome::Denied:
      ++denied;
      break;
    case Outcome::Timeout:
      ++timeouts;
      break;
  }
}

SideEffectLevel Tally::level(Autonomy tier) const {
  TrustScore score{.successes = successes,
                   .failures = failures,
                   .denied = denied,
                   .timeouts = timeouts,
                   .latest_outcome = latest,
                   .effective_tier = tier};
  const std::uint64_t counted = successes + failures + denied + timeouts;
  if (counted > 0) {
    score.success_rate = static_cast<double>(successes) / static_cast<double>(counted);
  }
  return derived_level(score);
}

std::shared_ptr<const core::FactChange> count_in(const TrustRecord& record) {
  if (record.is_control() || record.is_withheld()) return nullptr;
  return std::make_shared<CountRecord>(record.agent, record.outcome);
}

}  // namespace sallyport::trust
