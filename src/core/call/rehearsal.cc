#include "core/call/rehearsal.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "base/uuid.h"
#include "core/call/governor.h"

namespace sallyport::core {

Task<Rehearsal> Governor::rehearse(Call asked, std::shared_ptr<Upstream> upstream,
                                   Hearing hearing) {
  SALLYPORT_CO_TRY(Call call, identify(std::move(asked)));
  Rehearsal seen;
  // A rehearsal lets no call pass, so it neither begins nor counts in an interval of failing open.
  FailOpenLog own(stages_.parts.recorder.instance_id());
  Trail trail(std::move(call), stages_.parts.plans.current(), stages_.parts.digest, own);
  trail.tier_steps = &seen.tier_steps;
  trail.hears_all = hearing == Hearing::All;
  co_await stages_.first_door.authorize(trail, upstream, {});
  if (hearing == Hearing::Approved && trail.needs_person) {
    trail.consent = Consent{.approval_id = "apr_rehearsed", .call_digest = trail.call_digest()};
    trail.decide_again(trail.shared_plan());
    co_await stages_.first_door.authorize(trail, upstream, {});
  }
  if (trail.hears_all && !trail.open() && seen.tier_steps.empty())
    stages_.first_door.find_tier(trail);
  // Only findings. A call that is not made is not announced.
  for (const Trail::Row& row : trail.rows) {
    const Draft* const draft = std::get_if<Draft>(&row);
    if (draft != nullptr && draft->kind == Kind::GuardHit) seen.findings.push_back(draft->body);
  }
  if (trail.needs_person) {
    seen.question = stages_.asking.question_about(
        trail, "apr_" + uuid7_text(stages_.parts.clock, stages_.parts.entropy));
  }
  if (trail.refusal()) seen.refusal = trail.refusal()->reason;
  seen.call = trail.call();
  seen.rewritten = trail.call().input != trail.requested_input();
  seen.classification = trail.classification();
  seen.policy_hash = trail.plan().hash();
  seen.guard_runs = std::move(trail.guard_runs);
  seen.rules = trail.rules;
  seen.grant = trail.grant;
  seen.weighed = trail.weighed || (trail.open() && !trail.needs_person);
  seen.tiered = trail.is_tiered();
  seen.asked_by_guard = trail.question.has_value();
  seen.tier = trail.autonomy;
  seen.tier_source = trail.autonomy_source;
  seen.use_within = trail.plan().approvals().use_within;
  co_return seen;
}

}  // namespace sallyport::core
