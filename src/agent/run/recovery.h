// What instances that are gone left behind is closed, each thing once (RT-83, EV-51).
#pragma once

#include "agent/run/asker.h"
#include "agent/run/runtime_parts.h"

namespace sallyport::agent {

// Before `recovery_prepared`: their model requests, background tasks and runs.
Task<void> close_left_behind(RuntimeParts& parts);

// `run_aborted`, exactly once for a run, whichever process comes first (EV-30).
Task<void> tell_aborted(RuntimeParts& parts, const Asker& asker, const std::string& reason);

}  // namespace sallyport::agent
