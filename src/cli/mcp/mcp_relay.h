// `sallyport mcp` on a machine with the system set-up: the service stands before the tool server,
// and this process carries the bytes of the client there and back.
#pragma once

#include "app/context.h"
#include "app/servers/mcp_upstream.h"

namespace sallyport::app {

// `Unauthenticated`: the options name what only the service may choose, such as a command.
Result<int> relay_mcp(const Context& context, const McpOptions& options);

}  // namespace sallyport::app
