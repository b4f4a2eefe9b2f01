// The tool server behind `sallyport mcp`, as its options name it.
#pragma once

#include <filesystem>
#include <string>

#include "base/entropy.h"
#include "mcp/server/server.h"
#include "net/spawn.h"
#include "servers/era_cache.h"
#include "servers/oauth_options.h"

namespace sallyport::app {

// The command line of `sallyport mcp`, or the same settings in a configuration.
struct McpOptions {
  std::optional<std::string> policy;      // a file, or a shipped one by its name; none: `starter`
  std::optional<std::string> name;        // of the server, in records
  std::optional<std::string> url;         // where it is reached, if not started here
  std::optional<std::string> bearer_env;  // the variable that holds our token for it
  bool allow_http = false;                // without encryption, to other machines too
  OAuthOptions oauth;
  bool login = false;  // a person may log in with a browser
  std::string era = "auto";
  std::optional<std::string> grant;  // token of calls that bring none: a file, or the JSON itself
  std::vector<std::string> command;  // that starts it
  WrittenIn written = WrittenIn::Options;
};

struct McpUpstream {
  std::string name;      // in records
  std::string identity;  // its command or URL
  mcp::ServerMaker make;
};
// The resources of a login. They must outlive the upstream.
struct LoginMeans {
  std::filesystem::path data_dir;
  const Clock& clock;
  Entropy& entropy;
};
// `InvalidInput`: no server is named, or an impossible one. `run_as`: the account of a server that
// a command starts.
Result<McpUpstream> upstream_of(const McpOptions& options, const LoginMeans& means,
                                std::optional<net::RunAs> run_as = std::nullopt);

// The known era of the server, and the cache that keeps it.
mcp::EraHint era_hint(const McpOptions& options, EraCache cache, WallTime now);

}  // namespace sallyport::app
