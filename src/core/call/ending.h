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
  std::vector<Event> events{};    // written in front of the record, told once it is durable
  std::optional<Draft> memory{};  // what the trust graph keeps; written behind the record
};

// The entry, whose body has what the second door decided, commits to the original and the released
// result.
void commit_to_release(Draft& draft, const Release& release);

}  // namespace sallyport::core
