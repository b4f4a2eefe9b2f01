// JSON as a person is shown it.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport {

// JSON for people, with hidden characters as `visible` shows them: in lines, or on one.
std::string pretty_json(const json::value& value, std::size_t indent);

// The same, with each line of a text that has several on a line of its own, behind `|`: no text can
// pass for a line of the page around it. This is no JSON any more.
std::string json_in_lines(const json::value& value, std::size_t indent);
std::string compact_json(const json::value& value);

// Long texts with their head, their tail and the number of bytes left out; `whole` says what shows
// them (AP-41).
json::value with_long_texts_cut(const json::value& value, std::string_view whole);

}  // namespace sallyport
