// A scope that a policy file puts around some calls (AT-13): it narrows what holds for them.
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
  // Names, with `*` for any run of characters; empty: any.
  std::string agent{};
  std::string agent_name{};  // of the client or of the sub-agent, as its host says it
  std::string session{};
  std::string server{};
  std::string front{};
  AutonomyPolicy policy{};

  bool covers(const Call& call) const;

  bool operator==(const PolicyScope&) const = default;
};

json::object to_json(const PolicyScope& scope);

}  // namespace sallyport::autonomy
