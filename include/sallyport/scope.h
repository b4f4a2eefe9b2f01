// What a capability grant says about the call that uses it, as far as guards need to know it.
//
//   const Grant& grant = context.scope->grants.at(*context.matched_grant_index);
//   for (const Constraint& constraint : grant.constraints) obey(constraint.type, constraint.value);
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "sallyport/json.h"

namespace sallyport {

struct Constraint {
  std::string type;
  json::value value;
};

struct Grant {
  std::string server = "*";
  std::string tool = "*";
  std::vector<Constraint> constraints{};
  bool reads_result = true;  // else the agent is told that there is one, and no more
};

struct Scope {
  std::vector<Grant> grants;
};

}  // namespace sallyport
