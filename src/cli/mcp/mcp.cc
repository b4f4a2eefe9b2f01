// `sallyport mcp`: wraps a tool server for a client on standard streams.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>

#include "app/gate.h"
#include "app/gateway_plan.h"
#include "base/try.h"
#include "base/uuid.h"
#include "base/visible_text.h"
#include "cli/common_options.h"
#include "cli/grants/grant_files.h"
#include "cli/mcp/mcp_relay.h"
#include "daemon/telemetry_setup.h"
#include "servers/mcp_upstream.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;

// The token for calls that bring none of their own. The policy decides what it permits.
Result<std::string> presented_grant(const Context& context, const McpOptions& options) {
  const std::optional<std::string>& named =
      options.grant ? options.grant : context.environment.grant;
  unsetenv("SALLYPORT_GRANT");  // the server that is started does not see it (CG-10)
  if (options.grant && trimmed(*options.grant).empty()) {
    return fail(ErrorCode::InvalidInput, "--grant is empty; name a token, or leave it out");
  }
  if (named == "-") {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} cannot be standard input, which belongs to the client; name a file",
                            options.grant ? "--grant" : "SALLYPORT_GRANT"));
  }
  if (!named || named->empty()) return std::string();
  return read_token_text(*named);
}

// Records and rules name the server so. An empty name comes from a variable that is not set.
Result<void> check_name(const std::optional<std::string>& name) {
  constexpr std::size_t kLongest = 512;
  if (!name) return {};
  if (trimmed(*name).empty()) {
    return fail(ErrorCode::InvalidInput, "--name is empty; name the server, or leave it out");
  }
  if (name->size() > kLongest || visible(*name) != *name) {
    return fail(ErrorCode::InvalidInput,
                "--name has 1 to 512 bytes of characters that can be seen; write another");
  }
  return {};
}

std::string about_policy(const McpOptions& options, const Gate& gate) {
  return (options.policy ? "" : "no policy was given, so ") + gate.about_policy();
}

// Puts the flags back: the streams may belong to a shell that goes on using them.
class Flags {
 public:
  explicit Flags(int descriptor);
  Flags(const Flags&) = delete;
  ~Flags();

 private:
  int descriptor_;
  int flags_;
};

Flags::Flags(int descriptor) : descriptor_(descriptor), flags_(fcntl(descriptor, F_GETFL)) {}
Flags::~Flags() {
  if (flags_ >= 0) fcntl(descriptor_, F_SETFL, flags_);
}

Result<void> check_streams() {
  for (const auto& [number, name] :
       {std::pair(STDIN_FILENO, "input"), std::pair(STDOUT_FILENO, "output")}) {
    const int flags = fcntl(number, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) == 0) continue;
    return fail(ErrorCode::InvalidInput,
                fmt::format("standard {} is closed; an MCP client starts this command, and speaks "
                            "to it over standard streams",
                            name));
  }
  return {};
}

// Until the client has gone; `exporter`, where there is one, then sends what waits.
Result<void> serve(Gate& gate, mcp::Gateway& gateway, telemetry::Exporter* exporter) {
  asio::signal_set signals(gate.loop(), SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) gateway.stop();
  });
  Result<void> ended = fail(ErrorCode::Internal, "the gateway failed");
  asio::co_spawn(gate.loop(), gateway.run(),
                 [&](const std::exception_ptr& thrown, Result<void> result) {
                   if (!thrown) ended = std::move(result);
                   signals.cancel();
                   gate.stop_watching();
                   if (exporter != nullptr) exporter->stop();
                 });
  if (exporter != nullptr) asio::co_spawn(gate.loop(), exporter->run(), asio::detached);
  gate.start_watching();
  gate.run_loop();
  return ended;
}

Result<int> wrap_mcp_server(const Context& context, const McpOptions& options) {
  SALLYPORT_CHECK_OK(check_streams());
  SALLYPORT_CHECK_OK(check_name(options.name));
  if (!context.system) return std::unexpected(context.system.error());
  if (*context.system && !context.names_own_folder()) return relay_mcp(context, options);
  const SystemClock clock;
  SystemEntropy entropy;
  SALLYPORT_TRY(const std::filesystem::path data_dir, context.data_dir());
  SALLYPORT_TRY(const McpUpstream upstream, upstream_of(options, {data_dir, clock, entropy}));
  // Nothing that is started here sees it.
  if (options.oauth.client_secret_env) unsetenv(options.oauth.client_secret_env->c_str());
  signal(SIGPIPE, SIG_IGN);
  SALLYPORT_TRY(const std::string grant, presented_grant(context, options));
  SALLYPORT_TRY(const std::unique_ptr<Gate> gate,
                Gate::open(context, {.role = "mcp",
                                     .front = "mcp_stdio",
                                     .policy = options.policy.value_or("starter")}));
  Workspace& workspace = gate->workspace();
  const std::string name = options.name.value_or(upstream.name);
  gate->log(fmt::format("`{}` is wrapped; {}; records are in {}", name,
                        about_policy(options, *gate), workspace.place().log_name()));

  const Flags input_flags(STDIN_FILENO);
  const Flags output_flags(STDOUT_FILENO);
  mcp::Gateway gateway(
      gate->loop().get_executor(), gate->parts(),
      {.name = name,
       .make_server = upstream.make,
       .agent_id = acting_agent(*gate->plans().current()),
       .session_id = "mcp-" + uuid7_text(workspace.clock(), workspace.entropy()),
       .era = era_hint(options, EraCache(workspace.place().data_dir, upstream.identity),
                       workspace.clock().wall()),
       .grant = grant,
       .setting = {.front = "mcp",
                   .folder = std::filesystem::current_path().string(),
                   .user = running_user()},
       .command = options.command,
       .log = [&](std::string_view line) { gate->log(line); }},
      std::make_unique<mcp::StreamLink>(gate->loop().get_executor(), mcp::Limits{},
                                        dup(STDIN_FILENO), dup(STDOUT_FILENO)));
  const std::unique_ptr<telemetry::Exporter> exporter = exporter_of_environment(*gate);
  if (Result<void> served = serve(*gate, gateway, exporter.get()); !served) {
    return std::unexpected(gate->without_secrets(std::move(served.error())));
  }
  return 0;
}

const Command kMcp(
    "mcp", "run a tool server behind the gate, on standard streams", wrap_mcp_server,
    [](Syntax& syntax, McpOptions& options) {
      syntax.text("--policy", options.policy,
                  "policy file, or the name of a shipped policy [starter]", "POLICY");
      syntax.text("--name", options.name, "name of the server in records [from its command]",
                  "NAME");
      syntax.text("--url", options.url, "connect to a server at this URL instead of starting one",
                  "URL");
      syntax.text("--bearer-env", options.bearer_env,
                  "environment variable that holds the bearer token for the server", "NAME");
      syntax.flag("--allow-http", options.allow_http, "allow plain HTTP to another machine");
      syntax.flag("--login", options.login, "open a browser if the server asks for a login");
      oauth_options(syntax, options.oauth);
      syntax.text("--era", options.era, "protocol era of the server [auto]")
          .choices({"auto", "legacy", "modern"});
      syntax.text("--grant", options.grant, "token for calls without one [$SALLYPORT_GRANT]",
                  "FILE");
      syntax.texts("command", options.command, "the server's command, after `--`", "-- COMMAND...");
    });

}  // namespace

}  // namespace sallyport::app
