#include "core/result/recordable.h"

#include <boost/json.hpp>

#include "base/exact_numbers.h"

namespace sallyport::core {

Envelope recordable(Envelope envelope) {
  const auto hold_exactly = [](json::value& value) {
    if (!numbers_are_exact(value)) value = with_exact_numbers(std::move(value));
  };
  hold_exactly(envelope.value);
  hold_exactly(envelope.data);
  for (json::value& chunk : envelope.chunks) hold_exactly(chunk);
  // Deeper than this would not fit into a record.
  constexpr std::size_t kDeepestAnswer = 100;
  if (const json::value shape = envelope.to_json(); !check_json(shape, kDeepestAnswer)) {
    return Envelope::malformed_output(json::serialize(shape));
  }
  return envelope;
}

}  // namespace sallyport::core
