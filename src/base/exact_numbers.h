// Whole numbers that a double cannot hold would be rounded in canonical JSON.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport {

// True if the text needs an escape in a JSON string.
bool needs_json_escape(std::string_view text);

// Like `append_canonical_json`, but a whole number beyond 2^53 keeps all its digits.
void append_exact_json(std::string& out, const json::value& value);
void append_exact_json(std::string& out, const json::array& items);
void append_exact_json(std::string& out, const json::object& members);

// True if every number is at most 2^53-1 from zero.
bool numbers_are_exact(const json::value& value);
// Returns the value with every larger number replaced by its text.
json::value with_exact_numbers(json::value value);

}  // namespace sallyport
