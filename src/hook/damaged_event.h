// Reads an event that is no valid JSON. It is refused, and the answer must have the form of the
// event: a host ignores the answer to another one, and shows the result of its tool.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport::hook {

// The outermost members of a text that `parse_json` refuses, in the shape in which the host wrote
// them. Texts inside of them are `?`, numbers are 0, and what is nested too deep is null. Of equal
// names the last one counts, as in JavaScript. Empty: there is no object. It takes one pass over
// the text, and keeps a limited number of values. Nothing may be judged by it.
json::object readable_part(std::string_view text);

}  // namespace sallyport::hook
