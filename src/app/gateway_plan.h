// What `sallyport mcp` adds to a policy, for whoever decides like it.
#pragma once

#include "mcp/pins.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

// Lookups of the protocol that are not tools, and changed tools that are held back. `pins` must
// outlive the plan.
policy::PolicyLoader::Extend what_the_gateway_brings(const mcp::PinBook& pins);

}  // namespace sallyport::app
