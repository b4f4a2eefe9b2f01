// The additions of `sallyport mcp` to a policy, for callers that decide like it.
#pragma once

#include <optional>
#include <string>

#include "core/plan/plan.h"
#include "mcp/server/pins.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

// Lookups of the protocol that are not tools, and changed tools that are held back. `pins` must
// outlive the plan.
policy::PolicyLoader::Extend gateway_plan_extension(const mcp::PinBook& pins);

// No value: the policy is for any agent.
std::optional<std::string> agent_of_policy(const core::Plan& plan);
// The agent of calls at a front that knows a user and no agent: the agent that the policy is for,
// else the user who runs this (AT-10).
std::string acting_agent(const core::Plan& plan);

}  // namespace sallyport::app
