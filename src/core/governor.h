// The only way to a tool: runs one call through both doors and the ledger.
#pragma once

#include <memory>
#include <stop_token>

#include "base/async.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "core/journal.h"
#include "core/plan.h"
#include "core/upstream.h"

namespace sallyport::core {

// What the caller gets, after its record is durable.
struct Answer {
  std::string call_id;
  Outcome outcome;
  Position record;    // of the terminal tool-audit record
  ToolResult result;  // what may be shown
};

// One per process; owned by app. Calls run on the executor of whoever awaits them, a strand or a
// context with one thread; different calls may run on different threads at once.
class Governor {
 public:
  struct Parts {
    const PlanSource& plans;
    Recorder& recorder;
    const Clock& clock;
    Entropy& entropy;
    KeyedDigest digest;
  };
  explicit Governor(Parts parts);

  // An error means that nothing may be shown: the call could not be recorded, or was not a call.
  // A refused, failed or withheld call is a good answer that says so.
  // `upstream` is shared: a call that was given up on keeps it until it ends.
  Task<Answer> run(Call call, std::shared_ptr<Upstream> upstream, std::stop_token cancel = {});

 private:
  struct Performed {
    Envelope envelope;
    EffectState effect = EffectState::Unknown;
    std::uint64_t duration_ms = 0;
  };

  Result<Call> identify(Call call) const;
  void consent(Trail& trail) const;
  Task<void> announce(Trail& trail);
  Async<Performed> perform(const Trail& trail, std::shared_ptr<Upstream> upstream,
                           std::stop_token cancel);
  Async<Outcome> release(Trail& trail, Performed performed);

  Parts parts_;
  Journal journal_;
  FailOpenLog fail_open_;
};

}  // namespace sallyport::core
