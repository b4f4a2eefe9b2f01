// The scope of a capability token: its grants, as far as guards need them.
//
//   const Grant& grant = context.scope->grants.at(*context.matched_grant_index);
//   for (const Constraint& constraint : grant.constraints) obey(constraint.type, constraint.value);
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "sallyport/json.h"

namespace sallyport {

// All three are values.
struct Constraint {
  std::string type;
  json::value value;
};

struct Grant {
  std::string server = "*";
  std::string tool = "*";
  std::vector<Constraint> constraints{};
  bool reads_result = true;  // false: the agent learns that there is a result, but not the result
};

struct Scope {
  std::vector<Grant> grants;
};

}  // namespace sallyport
