// The end of a call, for its record: the outcome and what is known around it.
#pragma once

#include <optional>
#include <vector>

#include "core/plan/pipeline.h"
#include "core/record/draft.h"
#include "sallyport/event.h"
#include "sallyport/outcome.h"

namespace sallyport::core {

struct Ending {
  Outcome outcome;
  EffectState effect = EffectState::None;
  std::optional<Release> release{};  // what the second door did; no value: it was not reached
  bool terminal = true;
  std::vector<Event> events{};    // written before the record, reported once it is durable
  std::optional<Draft> memory{};  // the trust record, written after the record
};

// `Error::where` of a call that ran, but whose outcome could not be recorded. Without it, the call
// did not run.
inline constexpr const char* kOutcome = "outcome";

}  // namespace sallyport::core
