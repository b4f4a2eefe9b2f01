// `sallyport mcp` on a machine with the system set-up: the service is the gate of the tool server,
// and this process only forwards the bytes of the client.
#pragma once

#include "servers/mcp_upstream.h"
#include "workspace/context.h"

namespace sallyport::app {

// `Unauthenticated`: an option is for the service only, such as a command.
Result<int> relay_mcp(const Context& context, const McpOptions& options);

}  // namespace sallyport::app
