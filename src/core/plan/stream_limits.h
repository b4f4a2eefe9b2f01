// Limits of a result that arrives in pieces (PI-26).
#pragma once

#include <chrono>
#include <cstddef>

#include "sallyport/envelope.h"

namespace sallyport::core {

struct StreamLimits {
  std::size_t bytes = 16u << 20;
  std::size_t chunks = 10'000;
  std::chrono::milliseconds time{300'000};

  bool operator==(const StreamLimits&) const = default;
};

// A stream over the limits is cut short and says so; anything else stays as it is.
Envelope within(const StreamLimits& limits, Envelope envelope);

}  // namespace sallyport::core
