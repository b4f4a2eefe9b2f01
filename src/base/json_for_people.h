// JSON as shown to people.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport {

// JSON over several lines, with hidden characters as `visible` shows them.
std::string pretty_json(const json::value& value, std::size_t indent);

// The same, but each line of a multi-line text is on its own line after `|`, so that no text can
// pass for a line of the page around it. The result is not JSON.
std::string json_in_lines(const json::value& value, std::size_t indent);
std::string compact_json(const json::value& value);

// Shortens long texts to their head, their tail and the number of bytes left out. `whole` says how
// to see the full text (AP-41).
json::value with_long_texts_cut(const json::value& value, std::string_view whole);

}  // namespace sallyport
