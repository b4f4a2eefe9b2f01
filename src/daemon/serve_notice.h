// The messages of `sallyport serve` at its start and after a reload.
#pragma once

#include <string>

#include "app/gate.h"
#include "daemon/login/agent_tokens.h"
#include "daemon/serve_addresses.h"
#include "workspace/config/serve_config.h"
#include "workspace/context.h"

namespace sallyport::app {

// Describes which tokens give access to the tools.
std::string about_tokens(const ServeConfig& config, const AgentTokens& tokens);

// Writes to the log, and with --json to standard output.
Result<void> announce(const Context& context, const ServeConfig& config, Gate& gate,
                      const AgentTokens& tokens, const ServeAddresses& addresses);

}  // namespace sallyport::app
