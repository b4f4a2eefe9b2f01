// Numbers that a double cannot hold would be others in every canonical form.
#pragma once

#include "sallyport/json.h"

namespace sallyport {

// Every number is at most 2^53-1 from zero.
bool numbers_are_exact(const json::value& value);
// The same value with each other number as the text that it would be written as.
json::value with_exact_numbers(json::value value);

}  // namespace sallyport
