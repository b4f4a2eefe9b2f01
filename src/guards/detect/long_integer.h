// Numbers that may be a card or an account: integers of nine digits or more (PI-51).
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport::guards {

// The number as text, exact for integers that a double cannot hold.
std::string number_text(const json::value& value);

bool is_long_integer(std::string_view number);

// A quick test without the text. False: the text would not be a long integer.
bool may_be_long_integer(const json::value& value);

}  // namespace sallyport::guards
