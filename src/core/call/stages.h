// The stages of a call, wired together once.
#pragma once

#include "core/approval/approvals.h"
#include "core/approval/escalations.h"
#include "core/call/asking.h"
#include "core/call/call_events.h"
#include "core/call/closer.h"
#include "core/call/execution.h"
#include "core/call/first_door.h"
#include "core/call/governor_parts.h"
#include "core/call/idempotency.h"
#include "core/call/second_door.h"
#include "core/call/sink_feed.h"
#include "core/event/emitter.h"
#include "core/handoff/lost_calls.h"
#include "core/plan/fail_open.h"
#include "core/record/journal.h"

namespace sallyport::core {

// Owned by the Governor, which runs them in order. Hand-offs use the same stages, with the effect
// elsewhere. The order of the members is the order of their needs.
struct Stages {
  explicit Stages(GovernorParts given);
  Stages(const Stages&) = delete;

  GovernorParts parts;
  Emitter emitter;
  Escalations escalations;
  Approvals approvals;
  Idempotency idempotency;
  Journal journal;
  FailOpenLog fail_open;
  CallEvents events;
  SinkFeed sinks;
  SecondDoor second_door;
  FirstDoor first_door;
  Asking asking;
  Execution execution;
  Closer closer;
  LostCalls lost_calls;
};

}  // namespace sallyport::core
