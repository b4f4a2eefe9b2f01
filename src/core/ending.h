// How a call ended, for its record: the outcome and what is known around it.
#pragma once

#include <optional>

#include "core/pipeline.h"
#include "sallyport/outcome.h"

namespace sallyport::core {

struct Ending {
  Outcome outcome;
  EffectState effect = EffectState::None;
  std::optional<Release> release{};  // what the second door did, where it was reached
  bool terminal = true;
};

}  // namespace sallyport::core
