// Changes to be made in an envelope, by the place they are made at.
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

// A copy with the edits in it. Names that would clash are numbered (PI-62); a code that is edited
// is left out, because an envelope holds no other code than a number.
Envelope edited(const Envelope& envelope, const EnvelopeEdits& edits);

}  // namespace sallyport::guards
