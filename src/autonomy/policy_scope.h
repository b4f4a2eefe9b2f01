// A scope in a policy file that narrows the policy for some calls (AT-13).
//
//   scopes:
//     - for: {session: "nightly-*", front: hook}
//       autonomy: {tier: suggest}
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "autonomy/autonomy_policy.h"
#include "sallyport/call.h"

namespace sallyport::autonomy {

struct PolicyScope {
  // Names, in which `*` matches any run of characters; empty: any.
  std::string agent{};
  std::string agent_name{};  // of the client or sub-agent, as reported by its host
  std::string session{};
  std::string server{};
  std::string front{};
  AutonomyPolicy policy{};

  bool covers(const Call& call) const;

  bool operator==(const PolicyScope&) const = default;
};

json::object to_json(const PolicyScope& scope);

}  // namespace sallyport::autonomy
