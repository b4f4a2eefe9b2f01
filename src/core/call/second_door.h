// The second door: every result of an upstream passes here before anyone sees it.
#pragma once

#include <stop_token>
#include <string>

#include "base/async.h"
#include "core/call/ending.h"
#include "core/call/trail.h"
#include "core/call/upstream.h"
#include "core/plan/pipeline.h"
#include "core/record/redactor.h"
#include "core/result/performed.h"

namespace sallyport::core {

// The context of the call for result guards.
ResultContext result_context(const Trail& trail);

// Owned by `Stages`. Keeps no state of a call.
class SecondDoor {
 public:
  SecondDoor(const Clock& clock, const Redactor& redactor) : clock_(clock), redactor_(redactor) {}

  // Runs the result guards of the plan. Their texts are returned as people and agents may see them.
  Async<Release> look_at(const Plan& plan, Envelope envelope, ResultContext context,
                         FailOpen& fail_open, std::stop_token cancel = {}) const;
  // The ending of a call that ran, or that gets its earlier answer again.
  Async<Ending> release(Trail& trail, Performed performed, const Upstream& upstream,
                        std::stop_token cancel) const;
  // The reason that a tool gave while it prepared reaches the agent, so the guards see it too.
  Async<void> pass_tool_text(Trail& trail, std::stop_token cancel) const;

 private:
  const Clock& clock_;
  const Redactor& redactor_;
};

}  // namespace sallyport::core
