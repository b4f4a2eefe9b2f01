// The tool server that `sallyport mcp` stands before, as its options name it.
#pragma once

#include <string>

#include "app/commands.h"
#include "app/era_cache.h"
#include "mcp/server.h"

namespace sallyport::app {

struct McpUpstream {
  std::string name;      // in records
  std::string identity;  // its command or URL
  mcp::ServerMaker make;
};
// `InvalidInput`: none is named, or one that cannot be.
Result<McpUpstream> upstream_of(const McpOptions& options);

// What is known about its era, and where that is kept.
mcp::EraHint era_hint(const McpOptions& options, EraCache cache, WallTime now);

}  // namespace sallyport::app
