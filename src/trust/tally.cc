#include "trust/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/try.h"

namespace sallyport::trust {

namespace {

constexpr std::array<std::string_view, 5> kLevels = {"none", "read_only", "workspace_write",
                                                     "process_exec", "network"};
constexpr std::uint64_t kEnoughToJudge = 3;

SideEffectLevel level_of(Autonomy tier) {
  if (tier == Autonomy::Shadow) return SideEffectLevel::None;
  return tier == Autonomy::ActAuto ? SideEffectLevel::Network : SideEffectLevel::ReadOnly;
}

class CountRecord final : public core::FactChange {
 public:
  CountRecord(std::string agent, Outcome outcome) : agent_(std::move(agent)), outcome_(outcome) {}

  // Unreadable counts stay unchanged, and lower the tier that depends on them.
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

std::string_view to_string(SideEffectLevel level) {
  return kLevels[static_cast<std::size_t>(level)];
}

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

std::optional<double> Tally::success_rate() const {
  if (total() == 0) return std::nullopt;
  return static_cast<double>(successes) / static_cast<double>(total());
}

SideEffectLevel Tally::level(Autonomy tier) const {
  const SideEffectLevel level = level_of(tier);
  const bool went_wrong = latest && *latest != Outcome::Success;
  const bool mostly_wrong = total() >= kEnoughToJudge && *success_rate() < 0.5;
  return went_wrong || mostly_wrong ? std::min(level, SideEffectLevel::ReadOnly) : level;
}

std::shared_ptr<const core::FactChange> count_in(const TrustRecord& record) {
  if (record.is_control() || record.is_withheld()) return nullptr;
  return std::make_shared<CountRecord>(record.agent, record.outcome);
}

std::optional<Autonomy> tier_cap(SideEffectLevel level) {
  if (level == SideEffectLevel::None) return Autonomy::Shadow;
  if (level == SideEffectLevel::ReadOnly) return Autonomy::ActWithApproval;
  return std::nullopt;
}

}  // namespace sallyport::trust
