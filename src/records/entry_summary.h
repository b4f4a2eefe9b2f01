// The summary of an entry in a list, by kind.
#pragma once

#include <string>

#include "sallyport/json.h"

namespace sallyport::app {

// Describes a result that another process reported, and its standing. Empty: the call ran here.
std::string assertion_in(const json::value& body);
// A short summary of a body, without hidden characters.
std::string summary_of(const json::value& entry, const json::value& body);

}  // namespace sallyport::app
