// What rules say about a waiting call, for the person who is asked (RU-73).
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::core {

struct RuleLine {
  std::string name;  // rule, message, effect, opaque
  std::string text;  // one line, as in AP-39 and AP-40
};

// `rules` as an approval request has it. Empty: no rules were asked.
std::vector<RuleLine> rule_lines(const json::object& rules);

// The `rules` of the body of an approval request; empty where it has none.
json::object rules_in(const json::object* body);

}  // namespace sallyport::core
