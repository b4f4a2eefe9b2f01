#include "trust/standing.h"

#include <algorithm>

#include "base/try.h"

namespace sallyport::trust {

namespace {

std::string word(const std::optional<Autonomy>& tier) {
  return tier ? std::string(to_string(*tier)) : std::string();
}

Result<std::optional<Autonomy>> tier_from(std::string_view word) {
  if (word.empty()) return std::optional<Autonomy>();
  for (const Autonomy tier :
       {Autonomy::Shadow, Autonomy::Suggest, Autonomy::ActWithApproval, Autonomy::ActAuto}) {
    if (to_string(tier) == word) return std::optional(tier);
  }
  return fail(ErrorCode::Corrupt, "the stored standing of an agent cannot be read");
}

}  // namespace

// `promoted;demoted`.
Result<Standing> Standing::parse(std::string_view stored) {
  if (stored.empty()) return Standing{};
  const std::size_t mark = stored.find(';');
  if (mark == std::string_view::npos) {
    return fail(ErrorCode::Corrupt, "the stored standing of an agent cannot be read");
  }
  Standing standing;
  SALLYPORT_TRY(standing.promoted_to, tier_from(stored.substr(0, mark)));
  SALLYPORT_TRY(standing.demoted_to, tier_from(stored.substr(mark + 1)));
  return standing;
}

std::string Standing::text() const {
  return word(promoted_to) + ';' + word(demoted_to);
}

void Standing::take(bool promotion, Autonomy to_tier) {
  if (promotion) {
    *this = {.promoted_to = to_tier};
  } else {
    demoted_to = to_tier;
  }
}

Autonomy Standing::effective(Autonomy declared) const {
  const Autonomy tier = promoted_to.value_or(declared);
  return demoted_to ? std::min(tier, *demoted_to) : tier;
}

Result<Standing> standing_of(core::RecordReader& records, std::string_view agent) {
  SALLYPORT_TRY(const std::optional<std::string> stored, records.fact(kStandingSpace, agent));
  return Standing::parse(stored.value_or(""));
}

}  // namespace sallyport::trust
