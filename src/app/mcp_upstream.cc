#include "app/mcp_upstream.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/try.h"
#include "mcp/remote_server.h"
#include "mcp/server_name.h"
#include "mcp/stdio_server.h"

namespace sallyport::app {

namespace {

Result<std::string> token_in(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr || *value == 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`--bearer-env`: the variable `{}` is not set", variable));
  }
  return std::string(value);
}

Result<McpUpstream> remote(const McpOptions& options) {
  if (!options.command.empty()) {
    return fail(ErrorCode::InvalidInput, "give either `--url` or a command, not both");
  }
  SALLYPORT_TRY(net::Url url, net::Url::parse(*options.url));
  mcp::RemoteServer::Place place{.url = url, .allow_plain = options.allow_http};
  if (options.bearer_env) {
    SALLYPORT_TRY(place.bearer, token_in(*options.bearer_env));
  }
  SALLYPORT_TRY(mcp::ServerMaker make, mcp::RemoteServer::maker(std::move(place)));
  return McpUpstream{url.host, *options.url, std::move(make)};
}

}  // namespace

Result<McpUpstream> upstream_of(const McpOptions& options) {
  if (options.url) return remote(options);
  if (options.bearer_env || options.allow_http) {
    return fail(ErrorCode::InvalidInput,
                "`--bearer-env` and `--allow-http` are for a server that is named by `--url`");
  }
  if (options.command.empty()) {
    return fail(ErrorCode::InvalidInput,
                "no server is named; write its command behind `--`, as in `sallyport mcp -- npx "
                "some-server`, or its address, as in `sallyport mcp --url https://host/mcp`");
  }
  std::string identity;
  for (const std::string& word : options.command) identity += word + '\0';
  return McpUpstream{mcp::name_of_command(options.command), std::move(identity),
                     mcp::StdioServer::maker(options.command)};
}

mcp::EraHint era_hint(const McpOptions& options, EraCache cache, WallTime now) {
  if (options.era == "legacy") return {.era = mcp::Era::Legacy, .pinned = true};
  if (options.era == "modern") return {.era = mcp::Era::Modern, .pinned = true};
  return {.era = cache.read(now), .learned = [cache](mcp::Era era) { cache.write(era); }};
}

}  // namespace sallyport::app
