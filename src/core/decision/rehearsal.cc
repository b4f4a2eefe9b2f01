#include "core/decision/rehearsal.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "base/uuid.h"
#include "core/call/governor.h"

namespace sallyport::core {

Task<Rehearsal> Governor::rehearse(Call asked, std::shared_ptr<Upstream> upstream,
                                   RehearsalScope scope) {
  SALLYPORT_CO_CHECK_OK(identify(asked));
  Rehearsal seen;
  // A rehearsal lets no call pass, so it neither begins nor counts in an interval of failing open.
  FailOpenLog own(stages_.parts.recorder.instance_id());
  Decision decision(std::move(asked), stages_.parts.plans.current(), stages_.parts.digest, own);
  DecisionFacts facts(stages_.parts.recorder);
  const auto look = [&] {
    Circumstances around = stages_.first_door.look(decision, *upstream, facts);
    around.asks_all = scope == RehearsalScope::All;
    around.tier_steps = &seen.tier_steps;
    return around;
  };
  const Circumstances around = look();
  co_await decide(decision, around);
  if (scope == RehearsalScope::Approved && decision.needs_person) {
    decision.consent =
        Consent{.approval_id = "apr_rehearsed", .call_digest = decision.call_digest()};
    decision.decide_again(decision.shared_plan());
    const Circumstances again = look();
    co_await decide(decision, again);
  }
  // Only findings. A call that is not made is not announced.
  for (const Draft& row : decision.rows) {
    if (row.kind == Kind::GuardHit) seen.findings.push_back(row.body.members());
  }
  if (decision.needs_person) {
    seen.question = stages_.asking.question_about(
        decision, "apr_" + uuid7_text(stages_.parts.clock, stages_.parts.entropy));
  }
  if (decision.refusal()) seen.refusal = decision.refusal()->reason;
  seen.call = decision.call();
  seen.rewritten = decision.call().input != decision.requested_input();
  seen.classification = decision.classification();
  seen.policy_hash = decision.plan().hash();
  seen.guard_runs = std::move(decision.change_guard_runs());
  seen.rules = decision.rules;
  seen.grant = decision.grant;
  seen.weighed = decision.weighed || (decision.open() && !decision.needs_person);
  seen.tiered = decision.is_tiered();
  seen.asked_by_guard = decision.question.has_value();
  seen.tier = decision.autonomy;
  seen.tier_source = decision.autonomy_source;
  seen.use_within = decision.use_within();
  co_return seen;
}

}  // namespace sallyport::core
