// Numbers that a double cannot hold would be others in every canonical form.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport {

// True if a JSON string cannot hold the text as it stands.
bool needs_json_escape(std::string_view text);

// As `append_canonical_json`, but a whole number beyond 2^53 keeps all its digits.
void append_exact_json(std::string& out, const json::value& value);
void append_exact_json(std::string& out, const json::array& items);
void append_exact_json(std::string& out, const json::object& members);

// Every number is at most 2^53-1 from zero.
bool numbers_are_exact(const json::value& value);
// The same value with each other number as the text that it would be written as.
json::value with_exact_numbers(json::value value);

}  // namespace sallyport
