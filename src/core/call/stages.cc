#include "core/call/stages.h"

namespace sallyport::core {

Stages::Stages(GovernorParts given)
    : parts(std::move(given)),
      emitter({parts.recorder, parts.redactor, parts.clock, std::move(parts.hooks), &parts.plans}),
      escalations(parts.recorder, parts.clock, parts.entropy),
      approvals(parts.recorder, parts.clock, parts.redactor,
                [&plans = parts.plans] {
                  const std::shared_ptr<const Plan> plan = plans.current();
                  return std::shared_ptr<const ApprovalRules>(plan, &plan->approvals());
                }),
      idempotency(parts.recorder, parts.recorder, parts.digest),
      journal(
          {parts.recorder, parts.clock, parts.entropy, escalations, parts.redactor, parts.digest}),
      fail_open(parts.recorder, parts.log),
      events(emitter),
      sinks(parts, journal),
      second_door(parts.clock, parts.redactor),
      first_door(parts, idempotency, events),
      asking({parts, approvals, journal, sinks}),
      execution({parts, approvals, idempotency, journal, events, second_door, fail_open}),
      closer({parts, approvals, journal, emitter, events, sinks}),
      lost_calls(parts, approvals, closer) {}

}  // namespace sallyport::core
