// `sallyport serve`: the gate as a server of its own, for clients that come over HTTP and for hooks
// of coding agents. Without tool servers it is there for hooks alone.
#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json.hpp>

#include "app/approvals_api.h"
#include "app/authenticator.h"
#include "app/commands.h"
#include "app/gate.h"
#include "app/gateway_plan.h"
#include "app/hook_door.h"
#include "app/mcp_upstream.h"
#include "app/metrics_page.h"
#include "app/missing_program.h"
#include "app/output.h"
#include "app/registered_reviewers.h"
#include "base/try.h"
#include "mcp/http_front.h"
#include "mcp/switchboard.h"
#include "oauth/metadata.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;
using net::ServerRequest;
using net::ServerResponse;

constexpr std::chrono::milliseconds kGoodbye{15'000};

// Something to look at that says nothing secret.
class Page final : public net::HttpHandler {
 public:
  explicit Page(std::function<ServerResponse()> show) : show_(std::move(show)) {}

  Async<std::optional<ServerResponse>> refuse(ServerRequest& head) override {
    if (head.method == "GET" || head.method == "HEAD") co_return std::nullopt;
    ServerResponse response = ServerResponse::text(405, "GET this\n");
    response.headers.emplace_back("allow", "GET, HEAD");
    co_return response;
  }
  Async<void> handle(net::ServerExchange& exchange) override { co_await exchange.respond(show_()); }

 private:
  std::function<ServerResponse()> show_;
};

// In the place of tools where no tool server is behind the gate.
class NoTools final : public net::HttpHandler {
 public:
  Async<std::optional<ServerResponse>> refuse(ServerRequest&) override {
    co_return ServerResponse::text(
        404,
        "no tool server is behind this gate: its configuration names none under "
        "`serve.upstreams`\n");
  }
  Async<void> handle(net::ServerExchange& exchange) override {
    co_await exchange.respond(ServerResponse::text(404, ""));
  }
};

// A tool server, ready to be put behind a gateway for each client.
struct Upstream {
  std::string name;
  mcp::ServerMaker make;
  mcp::EraHint era;
};

Result<std::vector<Upstream>> upstreams_of(const ServeConfig& config, Workspace& workspace) {
  std::vector<Upstream> out;
  for (const ServeConfig::Upstream& named : config.upstreams) {
    McpOptions options{.name = named.name, .command = named.command};
    options.allow_http = named.allow_http;
    options.era = named.era;
    if (!named.url.empty()) options.url = named.url;
    if (!named.bearer_env.empty()) options.bearer_env = named.bearer_env;
    options.oauth = named.oauth;
    Result<McpUpstream> upstream =
        upstream_of(options, {workspace.place().data_dir, workspace.clock(), workspace.entropy()});
    if (!upstream) {
      return fail(upstream.error().code,
                  fmt::format("the upstream `{}`: {}", named.name, upstream.error().message));
    }
    EraCache cache(workspace.place().data_dir, upstream->identity);
    out.push_back({named.name, std::move(upstream->make),
                   era_hint(options, std::move(cache), workspace.clock().wall())});
  }
  // What is for one server is not for the others, which would inherit it.
  for (const ServeConfig::Upstream& named : config.upstreams) {
    if (!named.bearer_env.empty()) unsetenv(named.bearer_env.c_str());
    if (named.oauth.client_secret_env) unsetenv(named.oauth.client_secret_env->c_str());
  }
  unsetenv("SALLYPORT_GRANT");
  return out;
}

// Who serves one client, or all stateless requests of one agent.
mcp::HttpFront::Open gateways(Gate& gate, const std::vector<Upstream>& upstreams) {
  return [&](const mcp::HttpFront::Caller& caller,
             std::unique_ptr<mcp::ClientLink> client) -> std::shared_ptr<mcp::Conversation> {
    const auto log = [&gate](std::string_view line) { gate.log(line); };
    const auto gateway = [&gate, log, caller](const Upstream& upstream,
                                              std::unique_ptr<mcp::ClientLink> link) {
      return std::make_shared<mcp::Gateway>(gate.loop().get_executor(), gate.parts(),
                                            mcp::Gateway::Settings{.name = upstream.name,
                                                                   .make_server = upstream.make,
                                                                   .agent_id = caller.principal,
                                                                   .session_id = caller.session_id,
                                                                   .shared = caller.shared,
                                                                   .era = upstream.era,
                                                                   .log = log},
                                            std::move(link));
    };
    if (upstreams.size() == 1) return gateway(upstreams.front(), std::move(client));
    std::vector<mcp::Switchboard::Upstream> lines;
    for (const Upstream& upstream : upstreams) {
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

std::string names_of(const ServeConfig& config) {
  std::string names;
  for (const ServeConfig::Upstream& upstream : config.upstreams) {
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", upstream.name);
  }
  return names;
}

std::string authority(const ServeConfig& config, std::uint16_t port) {
  const bool six = config.address.find(':') != std::string::npos;
  return six ? fmt::format("[{}]:{}", config.address, port)
             : fmt::format("{}:{}", config.address, port);
}

net::HttpNames names_of(const ServeConfig& config, std::uint16_t port) {
  net::HttpNames names{.origins = config.origins};
  names.hosts.push_back(authority(config, port));
  if (config.is_local()) names.hosts.push_back(fmt::format("localhost:{}", port));
  // Pages of our own are not foreign.
  for (const std::string& host : names.hosts) names.origins.push_back("http://" + host);
  for (const std::string& host : config.hosts) {
    names.hosts.push_back(host);
    names.hosts.push_back(fmt::format("{}:{}", host, port));
  }
  return names;
}

// Upstreams that cannot be started as things are, and why. Others are served all the same.
json::object missing_programs(const ServeConfig& config) {
  const char* const path = std::getenv("PATH");
  json::object missing;
  for (const ServeConfig::Upstream& upstream : config.upstreams) {
    if (upstream.command.empty()) continue;
    const std::string why = missing_program(upstream.command, path ? path : "/usr/bin:/bin");
    if (!why.empty()) missing[upstream.name] = why;
  }
  return missing;
}

void warn_of_missing_programs(Gate& gate, const ServeConfig& config) {
  for (const auto& [name, why] : missing_programs(config)) {
    gate.log(
        fmt::format("warning: the upstream `{}` cannot be started: {}; its tools are not there",
                    std::string_view(name), std::string_view(why.as_string())));
  }
}

ServerResponse readiness(const ledger::Ledger& ledger, const ServeConfig& config, bool stopping) {
  if (stopping)
    return ServerResponse::json(503, R"({"ready":false,"why":"it is ending"})"
                                     "\n");
  const Result<void> ready = ledger.ready();
  if (ready) {
    json::object said{{"ready", true}};
    // Who comes from elsewhere without a token need not know what runs here.
    json::object missing = config.only_here() ? missing_programs(config) : json::object();
    if (!missing.empty()) said["missing"] = std::move(missing);
    return ServerResponse::json(200, json::serialize(said) + '\n');
  }
  // Nor where its files are.
  const std::string& cause = ready.error().cause;
  const json::object said{{"ready", false},
                          {"why", config.only_here() ? ready.error().message : cause}};
  return ServerResponse::json(503, json::serialize(said) + '\n');
}

// Those of the policy, where it is a file that names some, else those of the data folder. Looked up
// again each time: whoever is struck off the list cannot answer any more. A shipped policy is none
// of the files around, whatever they are called.
Result<trust::Reviewers> people_who_answer(const Context& context, const ServeConfig& config) {
  if (!policy::PolicyOrigin::shipped(config.policy)) {
    SALLYPORT_TRY(trust::Reviewers people, registered_reviewers(context, config.policy));
    if (!people.people.empty()) return people;
  }
  return registered_reviewers(context, std::nullopt);
}

// What stands behind `public_url`; nothing where there is none.
std::string public_address(const ServeConfig& config, std::string_view path) {
  if (config.public_url.empty()) return {};
  std::string_view base = config.public_url;
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}{}", base, path);
}

void route_tools(net::HttpServer& server, net::HttpHandler& tools, net::HttpHandler& metadata) {
  server.route("/mcp", tools);
  server.route("/.well-known/oauth-protected-resource", metadata);
  server.route("/.well-known/oauth-protected-resource/", metadata);
}

// Where there are no tools nobody needs a token for them, and none is made.
Result<AgentTokens> tokens_of(const ServeConfig& config, Gate& gate) {
  if (config.is_for_hooks_alone()) return AgentTokens::of({});
  Workspace& workspace = gate.workspace();
  return AgentTokens::open(config, acting_agent(*gate.plans().current()),
                           workspace.place().data_dir, workspace.entropy());
}

std::string about_tokens(const ServeConfig& config, const AgentTokens& tokens) {
  if (!config.needs_token) return "no token is asked for, so every program here is one of yours";
  if (!tokens.file().empty()) return fmt::format("the token is in {}", tokens.file().string());
  std::string who = fmt::format("tokens of {} agents", config.agents.size());
  if (!config.authorization) return who;
  if (config.agents.empty()) who.clear();
  for (const AuthorizationConfig::Issuer& issuer : config.authorization->issuers) {
    who += fmt::format("{}{}", who.empty() ? "tokens of " : ", ", issuer.issuer);
  }
  return who;
}

std::string about_service(const ServeConfig& config, const Gate& gate, const AgentTokens& tokens,
                          const std::string& url) {
  if (config.is_for_hooks_alone()) {
    return fmt::format(
        "hooks of coding agents are answered, each by the policy that it names; people answer at "
        "{}{}",
        url, ApprovalsApi::kPath);
  }
  return fmt::format("{} {} served at {}; {}; {}", names_of(config),
                     config.upstreams.size() == 1 ? "is" : "are", url, gate.about_policy(),
                     about_tokens(config, tokens));
}

Result<void> announce(const Context& context, const ServeConfig& config, Gate& gate,
                      const AgentTokens& tokens, const std::string& url) {
  const std::string folder = gate.workspace().place().data_dir.string();
  gate.log(
      fmt::format("{}; all is recorded in {}", about_service(config, gate, tokens, url), folder));
  if (!context.json()) return {};
  json::object said{{"url", url},
                    {"policy", config.policy},
                    {"policy_hash", gate.plans().current()->hash()},
                    {"data_dir", folder}};
  if (!tokens.file().empty()) said["token_file"] = tokens.file().string();
  say(json::serialize(said));
  return finish_output();
}

// Without the socket hooks decide alone. That is told, and an error only where nobody else comes.
Result<void> open_hooks(HookDoor& hooks, const ServeConfig& config, Gate& gate) {
  const Result<void> open = hooks.open();
  if (open) return {};
  if (config.is_for_hooks_alone()) {
    return fail(open.error().code,
                fmt::format("hooks of coding agents cannot be answered, and without `upstreams` "
                            "nothing else is served: {}",
                            open.error().message));
  }
  gate.log(
      fmt::format("hooks of coding agents decide without this process: {}", open.error().message));
  return {};
}

// Until a signal comes and all that runs has ended.
void run_until_stopped(Gate& gate, net::HttpServer& server, mcp::HttpFront& front, HookDoor& hooks,
                       asio::signal_set& signals, bool& stopping) {
  asio::io_context& loop = gate.loop();
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    stopping = true;
    server.stop();
    front.stop();
    hooks.stop();
    gate.watch().stop();
  });
  asio::co_spawn(loop, server.run(kGoodbye), asio::detached);
  asio::co_spawn(loop, front.run(), asio::detached);
  asio::co_spawn(loop, hooks.run(kGoodbye), asio::detached);
  asio::co_spawn(loop, gate.watch().run(), asio::detached);
  loop.restart();
  loop.run();
}

// On an address that others reach the page is there for those who have its token, and for nobody
// else: it names agents, servers and rules.
bool shows_metrics(const ServeConfig& config) {
  return config.only_here() || !config.metrics_sha256.empty();
}

std::optional<AgentTokens> metrics_readers(const ServeConfig& config) {
  if (config.metrics_sha256.empty()) return std::nullopt;
  return AgentTokens::of({{.name = "metrics", .token_sha256 = config.metrics_sha256}});
}

void count_http(Metrics& metrics, net::HttpServer& server, const mcp::HttpFront& front) {
  MetricNumbers& requests =
      metrics.counter("sallyport_http_requests_total",
                      "Requests over HTTP, by path and status of the answer.", {"route", "status"});
  server.on_answer([&requests](std::string_view route, unsigned status) {
    requests.at({route, std::to_string(status)}).add();
  });
  MetricNumber& sessions = metrics.gauge("sallyport_sessions", "Sessions that are open.").at({});
  metrics.before_reading(
      [&sessions, &front] { sessions.set(static_cast<double>(front.open_sessions())); });
}

Result<ServeConfig> config_of(const Context& context, const ServeOptions& options) {
  SALLYPORT_TRY(Workspace::Place place, context.place());
  if (place.config.serve_lacks) return std::unexpected(*place.config.serve_lacks);
  if (!place.config.serve) {
    return fail(
        ErrorCode::InvalidInput,
        "the configuration has no section `serve`; name one with --config, see docs/serve.md");
  }
  ServeConfig config = std::move(*place.config.serve);
  if (options.policy) config.policy = *options.policy;
  return config;
}

// Of one agent: where there are several, none of them takes every place.
std::uint64_t sessions_each(const ServeConfig& config) {
  const bool several = config.agents.size() > 1 || config.authorization;
  return several ? (config.sessions + 1) / 2 : config.sessions;
}

// What we say about ourselves to who wants a token (RFC 9728).
json::object resource_description(const ServeConfig& config, const std::string& resource) {
  json::object out{{"resource", resource},
                   {"bearer_methods_supported", json::array{"header"}},
                   {"resource_name", "sallyport"}};
  if (!config.authorization) return out;
  json::array issuers;
  for (const auto& issuer : config.authorization->issuers) issuers.emplace_back(issuer.issuer);
  out["authorization_servers"] = std::move(issuers);
  const std::vector<std::string>& scopes = config.authorization->scopes;
  if (!scopes.empty()) out["scopes_supported"] = json::array(scopes.begin(), scopes.end());
  return out;
}

}  // namespace

Result<int> serve(const Context& context, const ServeOptions& options) {
  SALLYPORT_TRY(const ServeConfig config, config_of(context, options));
  signal(SIGPIPE, SIG_IGN);
  SALLYPORT_TRY(const std::unique_ptr<Gate> gate,
                Gate::open(context, {.role = "serve",
                                     .front = "mcp_http",
                                     .policy = config.policy,
                                     .approvals_url = public_address(
                                         config, fmt::format("{}/", ApprovalsApi::kPath))}));
  Workspace& workspace = gate->workspace();
  const auto log = [&](std::string_view line) { gate->log(line); };
  SALLYPORT_TRY(const std::vector<Upstream> upstreams, upstreams_of(config, workspace));
  SALLYPORT_TRY(AgentTokens tokens, tokens_of(config, *gate));
  Authenticator authenticator(std::move(tokens));

  net::HttpServer server(gate->loop().get_executor(), {}, log);
  SALLYPORT_TRY(const std::uint16_t port, server.listen(config.address, config.port));
  server.serve_only(names_of(config, port));
  const std::string origin = "http://" + authority(config, port);
  const std::string url = config.is_for_hooks_alone() ? origin : origin + "/mcp";
  // What agents compare with the address that they were given (RFC 9728).
  const std::string resource = config.public_url.empty() ? url : public_address(config, "/mcp");
  SALLYPORT_TRY(const net::Url resource_url, net::Url::parse(resource));
  if (config.authorization) {
    authenticator.trust({.clock = workspace.clock(),
                         .issuers = trusted_issuers(*config.authorization, resource),
                         .scopes = config.authorization->scopes,
                         .log = log});
  }
  mcp::HttpFront front(
      gate->loop().get_executor(),
      {workspace.clock(), workspace.entropy(), gateways(*gate, upstreams),
       [&](const ServerRequest& request) { return authenticator.principal_of(request); },
       [&] { return gate->plans().current()->hash(); }, log},
      {.front = {.sessions = config.sessions,
                 .sessions_each = sessions_each(config),
                 .idle = config.idle},
       .metadata = oauth::resource_metadata_places(resource_url).front(),
       .scope = config.authorization ? config.authorization->scope() : ""});
  bool stopping = false;
  count_http(gate->metrics(), server, front);
  MetricsPage metrics({gate->metrics(), gate->ledger(), workspace.clock()},
                      metrics_readers(config));
  Page health([] { return ServerResponse::text(200, "ok\n"); });
  Page ready([&] { return readiness(gate->ledger(), config, stopping); });
  Page metadata([&] {
    return ServerResponse::json(200, json::serialize(resource_description(config, resource)));
  });
  ApprovalsApi approvals({gate->ledger(), gate->governor(), workspace.clock(),
                          [&] { return people_who_answer(context, config); },
                          [&] { return stopping; }});
  NoTools none;
  if (config.is_for_hooks_alone()) {
    route_tools(server, none, none);
  } else {
    route_tools(server, front, metadata);
  }
  server.route(ApprovalsApi::kPath, approvals);
  server.route(fmt::format("{}/", ApprovalsApi::kPath), approvals);
  server.route("/healthz", health);
  server.route("/readyz", ready);
  if (shows_metrics(config)) server.route("/metrics", metrics);
  warn_of_missing_programs(*gate, config);
  // Whoever hears that it listens may end it at once.
  asio::signal_set signals(gate->loop(), SIGINT, SIGTERM, SIGHUP);
  HookDoor hooks(*gate);
  SALLYPORT_CHECK_OK(open_hooks(hooks, config, *gate));
  asio::co_spawn(gate->loop(), authenticator.warm_up(), asio::detached);
  SALLYPORT_CHECK_OK(announce(context, config, *gate, authenticator.tokens(), url));
  run_until_stopped(*gate, server, front, hooks, signals, stopping);
  return 0;
}

}  // namespace sallyport::app
