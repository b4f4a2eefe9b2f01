// Changes to an envelope, by their place.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <unordered_map>

#include "sallyport/envelope.h"
#include "sallyport/json.h"

namespace sallyport::guards {

struct EnvelopeEdits {
  std::unordered_map<const void*, json::value> values;  // by `json::value`
  std::unordered_map<const void*, std::string> names;   // by `json::key_value_pair`
  std::unordered_map<const void*, std::string> texts;   // by `message`, `reason` or `code`

  bool empty() const { return values.empty() && names.empty() && texts.empty(); }
};

// Returns a copy with the edits. Clashing names are numbered (PI-62). An edited code is left out,
// because the code of an envelope must be a number.
Envelope edited(const Envelope& envelope, const EnvelopeEdits& edits);

}  // namespace sallyport::guards
