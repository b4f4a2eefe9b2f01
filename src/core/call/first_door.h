// The first door: one decision about a call, told from its start to its end.
#pragma once

#include <memory>
#include <stop_token>

#include "base/async.h"
#include "core/call/call_events.h"
#include "core/call/governor_parts.h"
#include "core/call/idempotency.h"
#include "core/call/trail.h"
#include "core/call/upstream.h"

namespace sallyport::core {

// Tells programs that follow the outbox what would have run (LG-8).
void propose(Trail& trail);

// Owned by `Stages`. Keeps no state of a call.
class FirstDoor {
 public:
  FirstDoor(const GovernorParts& parts, Idempotency& idempotency, CallEvents& events)
      : parts_(parts), idempotency_(idempotency), events_(events) {}

  // Grants, guards, hooks, rules, autonomy. Afterwards the trail is open, needs a person, or is
  // refused with a reason.
  Async<void> authorize(Trail& trail, const std::shared_ptr<Upstream>& upstream,
                        const std::stop_token& cancel);
  // Which tier holds for the call, and where it comes from.
  void find_tier(Trail& trail) const;

 private:
  Async<void> decide_at_one_moment(Trail& trail, const Preview& preview,
                                   const std::shared_ptr<Upstream>& upstream,
                                   const std::stop_token& cancel);
  Async<void> judge_call(Trail& trail, const Preview& preview,
                         const std::shared_ptr<Upstream>& upstream, const std::stop_token& cancel);
  bool recall_preparation(Trail& trail);
  void weigh_autonomy(Trail& trail) const;
  Async<void> tell_decision(Trail& trail);

  const GovernorParts& parts_;
  Idempotency& idempotency_;
  CallEvents& events_;
};

}  // namespace sallyport::core
