// Numbers that may be a card or an account: integers of nine digits or more (PI-51).
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport::guards {

// As it is written, and exact for integers that a double cannot hold.
std::string number_text(const json::value& value);

bool is_long_integer(std::string_view number);

// The same without making the text: false says that the text would be no long integer.
bool may_be_long_integer(const json::value& value);

}  // namespace sallyport::guards
