// The sections `autonomy` and `scopes` of a policy.
//
//   autonomy: {autonomy_tier: act_with_approval, agent_tiers: {ci: act_auto}}
//   scopes:
//     - {for: {session: "review-*"}, autonomy: {ceiling: suggest}}
#pragma once

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

json::object autonomy_schema();
config::ReadValue read_autonomy(Policy& out);

json::object scopes_schema();
config::ReadValue read_scopes(Policy& out);

}  // namespace sallyport::policy
