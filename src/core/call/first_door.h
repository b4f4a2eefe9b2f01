// The first door: makes one decision about a call and emits its events.
#pragma once

#include <memory>
#include <stop_token>

#include "base/async.h"
#include "core/call/call_events.h"
#include "core/call/governor_parts.h"
#include "core/call/idempotency.h"
#include "core/call/trail.h"
#include "core/call/upstream.h"
#include "core/decision/decide.h"

namespace sallyport::core {

// Owned by `Stages`. Keeps no state of a call.
class FirstDoor {
 public:
  FirstDoor(const GovernorParts& parts, Idempotency& idempotency, CallEvents& events)
      : parts_(parts), idempotency_(idempotency), events_(events) {}

  // Grants, guards, hooks, rules, autonomy. Afterwards the trail is open, needs a person, or is
  // refused with a reason.
  Async<void> authorize(Trail& trail, const std::shared_ptr<Upstream>& upstream,
                        const std::stop_token& cancel);
  // Reads the inputs of a decision beside the plan and the call. It writes and emits nothing.
  Circumstances look(Decision& decision, const Upstream& upstream, DecisionFacts& facts) const;

 private:
  Async<void> decide_at_one_moment(Trail& trail, const Upstream& upstream,
                                   const Circumstances& seen);
  Async<void> prepare_call(Trail& trail, std::shared_ptr<Upstream> upstream,
                           std::stop_token cancel);
  bool recall_preparation(Trail& trail);
  Async<void> report_decision(Trail& trail);

  const GovernorParts& parts_;
  Idempotency& idempotency_;
  CallEvents& events_;
};

}  // namespace sallyport::core
