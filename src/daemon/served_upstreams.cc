#include "daemon/served_upstreams.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "machine/accounts.h"
#include "mcp/switchboard/switchboard.h"
#include "servers/mcp_upstream.h"
#include "servers/missing_program.h"

namespace sallyport::app {

namespace {

// Never root, and never the account of the service: the server could change the service's files.
Result<std::optional<net::RunAs>> account_of(const ServeConfig& config,
                                             const ServeConfig::ToolServer& upstream) {
  const std::string& name = upstream.run_as.empty() ? config.run_as : upstream.run_as;
  if (upstream.command.empty() || name.empty()) return std::nullopt;
  SALLYPORT_TRY(net::RunAs account, account_named(name));
  if (account.uid == 0 || account.uid == ::geteuid()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`run_as: {}` names {}; a tool server has an account of its own", name,
                            account.uid == 0 ? "root" : "the account of the gate itself"));
  }
  return account;
}

}  // namespace

Result<std::vector<ServedUpstream>> served_upstreams(const ServeConfig& config,
                                                     Workspace& workspace) {
  std::vector<ServedUpstream> out;
  for (const ServeConfig::ToolServer& named : config.upstreams) {
    McpOptions options{
        .name = named.name, .command = named.command, .written = WrittenIn::Configuration};
    options.allow_http = named.allow_http;
    options.era = named.era;
    if (!named.url.empty()) options.url = named.url;
    if (!named.bearer_env.empty()) options.bearer_env = named.bearer_env;
    options.oauth = named.oauth;
    Result<std::optional<net::RunAs>> account = account_of(config, named);
    if (!account) {
      return fail(account.error().code,
                  fmt::format("the upstream `{}`: {}", named.name, account.error().message));
    }
    Result<McpUpstream> upstream =
        upstream_of(options, {workspace.place().data_dir, workspace.clock(), workspace.entropy()},
                    std::move(*account));
    if (!upstream) {
      return fail(upstream.error().code,
                  fmt::format("the upstream `{}`: {}", named.name, upstream.error().message));
    }
    EraCache cache(workspace.place().data_dir, upstream->identity);
    out.push_back({named.name, std::move(upstream->make),
                   era_hint(options, std::move(cache), workspace.clock().wall()),
                   !named.url.empty(), named.command});
  }
  // Other servers must not inherit the secrets of one server.
  for (const ServeConfig::ToolServer& named : config.upstreams) {
    if (!named.bearer_env.empty()) unsetenv(named.bearer_env.c_str());
    if (named.oauth.client_secret_env) unsetenv(named.oauth.client_secret_env->c_str());
  }
  unsetenv("SALLYPORT_GRANT");
  return out;
}

mcp::HttpFront::Open gateways(Gate& gate, const std::vector<ServedUpstream>& upstreams) {
  return [&](const mcp::HttpFront::Caller& caller,
             std::unique_ptr<mcp::ClientLink> client) -> std::shared_ptr<mcp::Conversation> {
    const auto log = [&gate](std::string_view line) { gate.log(line); };
    // With several servers, a line names its server. Lines of the servers themselves already do.
    const auto log_of = [&gate, several = upstreams.size() > 1](const std::string& name) {
      return [&gate, mark = several ? fmt::format("`{}`: ", name) : ""](std::string_view line) {
        gate.log(line.starts_with('[') ? std::string(line) : mark + std::string(line));
      };
    };
    const auto gateway = [&gate, log_of, caller](const ServedUpstream& upstream,
                                                 std::unique_ptr<mcp::ClientLink> link) {
      return std::make_shared<mcp::Gateway>(
          gate.loop().get_executor(), gate.parts(),
          mcp::Gateway::Settings{.name = upstream.name,
                                 .make_server = upstream.make,
                                 .agent_id = caller.principal,
                                 .session_id = caller.session_id,
                                 .shared = caller.shared,
                                 .era = upstream.era,
                                 .serves_others = upstream.serves_others,
                                 .setting = {.front = "http"},
                                 .command = upstream.command,
                                 .log = log_of(upstream.name)},
          std::move(link));
    };
    if (upstreams.size() == 1) return gateway(upstreams.front(), std::move(client));
    std::vector<mcp::Switchboard::NamedServer> lines;
    for (const ServedUpstream& upstream : upstreams) {
      lines.push_back({upstream.name, [&upstream, gateway](std::unique_ptr<mcp::ClientLink> link) {
                         return gateway(upstream, std::move(link));
                       }});
    }
    const auto refuse = [&gate, caller](Call call) {
      call.agent_id = caller.principal;
      call.session_id = caller.session_id;
      return gate.governor().run(std::move(call), std::make_shared<core::UnknownTool>());
    };
    return std::make_shared<mcp::Switchboard>(
        gate.loop().get_executor(), std::move(client), std::move(lines),
        mcp::Switchboard::Settings{.log = log, .refuse = refuse});
  };
}

json::object missing_programs(const ServeConfig& config) {
  const char* const path = std::getenv("PATH");
  json::object missing;
  for (const ServeConfig::ToolServer& upstream : config.upstreams) {
    if (upstream.command.empty()) continue;
    const std::string why = missing_program(upstream.command, path ? path : "/usr/bin:/bin");
    if (!why.empty()) missing[upstream.name] = why;
  }
  return missing;
}

}  // namespace sallyport::app
