// The stage between the doors: finds an earlier run of the call, writes the intent, runs the tool.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/async.h"
#include "base/race.h"
#include "core/approval/approvals.h"
#include "core/call/call_events.h"
#include "core/call/caller.h"
#include "core/call/governor_parts.h"
#include "core/call/idempotency.h"
#include "core/call/second_door.h"
#include "core/call/trail.h"
#include "core/call/upstream.h"
#include "core/record/journal.h"
#include "core/result/performed.h"

namespace sallyport::core {

// Owned by `Stages`.
class Execution {
 public:
  struct Parts {
    const GovernorParts& governor;
    Approvals& approvals;
    Idempotency& idempotency;
    Journal& journal;
    CallEvents& events;
    const SecondDoor& second_door;
    FailOpenLog& fail_open;
  };
  explicit Execution(Parts parts)
      : parts_(parts.governor),
        approvals_(parts.approvals),
        idempotency_(parts.idempotency),
        journal_(parts.journal),
        events_(parts.events),
        second_door_(parts.second_door),
        fail_open_(parts.fail_open) {}

  // Writes the intent: no record, no effect. Returns the answer of an earlier run of the same call,
  // if there is one. Otherwise the trail is announced, refused, or decided again.
  Task<std::optional<Performed>> announce(Trail& trail, std::stop_token cancel);
  // Runs the upstream against its deadline and the caller's cancel. Errors fold into the envelope.
  Async<Performed> perform(Trail& trail, std::shared_ptr<Upstream> upstream, const Caller& caller);
  // The answer that a terminal record keeps. `NotFound`: its content is gone.
  Result<Performed> recall(const Idempotency::Row& row);

 private:
  Result<std::optional<Performed>> look_for_earlier(Trail& trail);
  // Returns the result of the call that used the same approval (AP-36). No value: it is unknown.
  // A cancel refuses the call.
  Task<std::optional<Performed>> result_of_same(Trail& trail, std::stop_token cancel);
  Task<void> write_intent(Trail& trail);
  std::vector<Fact> add_intent_facts(const Trail& trail, Draft& intent) const;
  Result<void> intent_refused(Trail& trail, const Error& error);
  static Performed fold(Raced<Result<Envelope>> raced, Delivery& delivery,
                        std::chrono::milliseconds limit);
  // Records an answer that comes after its call has ended, beside the call (PI-31).
  Async<void> note_late(std::shared_ptr<Delivery> delivery, SteadyTime begin,
                        Result<Envelope> given);

  const GovernorParts& parts_;
  Approvals& approvals_;
  Idempotency& idempotency_;
  Journal& journal_;
  CallEvents& events_;
  const SecondDoor& second_door_;
  FailOpenLog& fail_open_;
};

}  // namespace sallyport::core
