#include "core/result/recordable.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/exact_numbers.h"

namespace sallyport::core {

namespace {

// Checks the depth of its JSON, including the levels around the values.
bool fits_a_record(const Envelope& envelope) {
  constexpr std::size_t kDeepestAnswer = 100;
  switch (envelope.kind) {
    case Envelope::Kind::Value:
      return check_json(envelope.value, kDeepestAnswer - 1).has_value();
    case Envelope::Kind::Stream:
      return is_utf8(envelope.reason) &&
             std::ranges::all_of(envelope.chunks, [](const json::value& chunk) {
               return check_json(chunk, kDeepestAnswer - 3).has_value();
             });
    case Envelope::Kind::Error:
      return is_utf8(envelope.message) && check_json(envelope.data, kDeepestAnswer - 2).has_value();
  }
  return false;
}

}  // namespace

Envelope recordable(Envelope envelope) {
  const auto hold_exactly = [](json::value& value) {
    if (!numbers_are_exact(value)) value = with_exact_numbers(std::move(value));
  };
  hold_exactly(envelope.value);
  hold_exactly(envelope.data);
  for (json::value& chunk : envelope.chunks) hold_exactly(chunk);
  if (fits_a_record(envelope)) return envelope;
  return Envelope::malformed_output(json::serialize(envelope.to_json()));
}

}  // namespace sallyport::core
