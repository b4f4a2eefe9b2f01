// What the trust graph keeps of a call: how its tier was enforced, who said yes, what came of it.
#include "core/call/governor.h"

namespace sallyport::core {

namespace {

// How the tier was enforced, and what came of it, in the words of the trust graph. Nothing: neither
// tier nor person had to do with it (AT-31).
struct Enforcement {
  std::string_view how;
  std::string_view outcome;
};
std::optional<Enforcement> enforcement_of(const Trail& trail, const Ending& ending) {
  if (!trail.weighed) return std::nullopt;
  // An unasked report of a result neither earns nor costs trust.
  const auto* const asserted = ending.release ? &ending.release->asserted : nullptr;
  if (asserted != nullptr && *asserted && !(*asserted)->counts()) return std::nullopt;
  if (trail.announced) {
    const bool good = ending.effect != EffectState::Unknown && ending.outcome.result &&
                      ending.outcome.result->success;
    return Enforcement{trail.consent ? "approval_granted" : "auto", good ? "success" : "failure"};
  }
  if (!trail.refusal()) return std::nullopt;
  if (trail.is_shadow()) return Enforcement{"shadow_noop", "denied"};
  if (trail.approval_id.empty()) return std::nullopt;
  if (trail.refusal()->by == Refusal::By::Cancel)
    return Enforcement{"approval_cancelled", "denied"};
  if (trail.refusal()->by != Refusal::By::Person) {
    return Enforcement{"approval_invalidated", "denied"};
  }
  if (trail.refusal()->reason == "approval_expired") {
    return Enforcement{"approval_timeout", "timeout"};
  }
  return Enforcement{"approval_denied", "denied"};
}

}  // namespace

void Governor::remember(Trail& trail, const Ending& ending) const {
  if (!trail.replay_of.empty()) return;  // nothing was done
  const auto& rules = trail.plan().autonomy_rules();
  const std::optional<Enforcement> enforced = rules ? enforcement_of(trail, ending) : std::nullopt;
  if (!enforced) return;
  Remembered ended{.call = trail.call(),
                   .classification = trail.classification(),
                   .tier = trail.autonomy,
                   .enforcement = std::string(enforced->how),
                   .outcome = std::string(enforced->outcome),
                   .approval_id = trail.approval_id};
  if (trail.consent) add_consent(ended, *trail.consent);
  trail.memories.clear();
  trail.memories.push_back(rules->remember(ended, parts_.clock.wall()));
}

void Governor::add_consent(Remembered& ended, const Consent& consent) {
  ended.approver = consent.by;
  ended.approved_at = consent.at;
  ended.answer_sequence = consent.sequence;
  for (const Vote& vote : consent.votes) {
    ended.answers.push_back({vote.by, vote.at, vote.proof()});
  }
}

}  // namespace sallyport::core
