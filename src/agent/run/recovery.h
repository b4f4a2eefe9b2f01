// Closes what dead instances left open, each item once (RT-83, EV-51).
#pragma once

#include "agent/run/asker.h"
#include "agent/run/runtime_parts.h"

namespace sallyport::agent {

// Closes their model requests, background tasks and runs. Call it before `recovery_prepared`.
Task<void> close_left_behind(RuntimeParts& parts);

// Emits `run_aborted` exactly once for a run, even if several processes try (EV-30).
Task<void> emit_aborted(RuntimeParts& parts, const Asker& asker, const std::string& reason);

}  // namespace sallyport::agent
