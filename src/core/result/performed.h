// The answer of an upstream before the second door has seen it.
#pragma once

#include <boost/json/array.hpp>
#include <cstdint>

#include "sallyport/envelope.h"
#include "sallyport/outcome.h"

namespace sallyport::core {

struct Performed {
  Envelope envelope;
  EffectState effect = EffectState::Unknown;
  std::uint64_t duration_ms = 0;
  bool other_revision = false;  // a prepared operation was not what had been confirmed
  bool recalled = false;        // `envelope` was released by an earlier run
  json::array redactions{};     // of the record of that run
};

}  // namespace sallyport::core
