// Limits of a result that arrives in pieces (PI-26). `Delivery` applies them while pieces arrive,
// the pipeline to a whole stream, which a result guard may have changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "sallyport/envelope.h"

namespace sallyport::core {

struct StreamLimits {
  std::size_t bytes = 16u << 20;
  std::size_t chunks = 10'000;
  std::chrono::milliseconds time{300'000};

  bool operator==(const StreamLimits&) const = default;
};

// The bytes of a piece: those of a text itself, or of the canonical JSON of another value.
std::size_t chunk_bytes(const json::value& chunk);
// Marks the stream as incomplete. The first reason stays.
void cut_short(Envelope& stream, std::string reason);
// A stream over the limits is cut short and says so.
void cut_to_limits(const StreamLimits& limits, Envelope& stream);

}  // namespace sallyport::core
