// The tool server that `sallyport mcp` stands before, as its options name it.
#pragma once

#include <filesystem>
#include <string>

#include "app/cli/commands.h"
#include "app/servers/era_cache.h"
#include "base/entropy.h"
#include "mcp/server.h"
#include "net/spawn.h"

namespace sallyport::app {

struct McpUpstream {
  std::string name;      // in records
  std::string identity;  // its command or URL
  mcp::ServerMaker make;
};
// What a login needs. All of it outlives the upstream.
struct LoginMeans {
  std::filesystem::path data_dir;
  const Clock& clock;
  Entropy& entropy;
};
// `InvalidInput`: none is named, or one that cannot be. `run_as`: the account of one that a command
// starts.
Result<McpUpstream> upstream_of(const McpOptions& options, const LoginMeans& means,
                                std::optional<net::RunAs> run_as = std::nullopt);

// What is known about its era, and where that is kept.
mcp::EraHint era_hint(const McpOptions& options, EraCache cache, WallTime now);

}  // namespace sallyport::app
