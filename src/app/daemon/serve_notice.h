// What `sallyport serve` says of itself when it starts and when it takes up another configuration.
#pragma once

#include <string>

#include "app/config/serve_config.h"
#include "app/context.h"
#include "app/daemon/login/agent_tokens.h"
#include "app/daemon/serve_addresses.h"
#include "app/gate.h"

namespace sallyport::app {

// Whose tokens open the tools.
std::string about_tokens(const ServeConfig& config, const AgentTokens& tokens);

// To the log, and to standard output as JSON where that is asked for.
Result<void> announce(const Context& context, const ServeConfig& config, Gate& gate,
                      const AgentTokens& tokens, const ServeAddresses& addresses);

}  // namespace sallyport::app
