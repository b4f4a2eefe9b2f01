// `sallyport serve`: the gate as a server of its own, for clients that come over HTTP.
#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json.hpp>

#include "app/agent_tokens.h"
#include "app/approvals_api.h"
#include "app/commands.h"
#include "app/error_lines.h"
#include "app/gateway_plan.h"
#include "app/mcp_upstream.h"
#include "app/output.h"
#include "app/policy_watch.h"
#include "app/registered_reviewers.h"
#include "base/try.h"
#include "core/governor.h"
#include "core/plan_shelf.h"
#include "core/stored_record.h"
#include "mcp/gateway.h"
#include "mcp/http_front.h"
#include "mcp/switchboard.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;
using net::ServerRequest;
using net::ServerResponse;

constexpr std::chrono::milliseconds kGoodbye{15'000};

template <class T>
Result<T> run_on(asio::io_context& loop, Task<T> task) {
  Result<T> answer = fail(ErrorCode::Internal, "a task ended without an answer");
  asio::co_spawn(loop, std::move(task), [&](const std::exception_ptr& thrown, Result<T> value) {
    if (!thrown) answer = std::move(value);
  });
  loop.restart();
  loop.run();
  return answer;
}

// Something to look at that says nothing secret.
class Page final : public net::HttpHandler {
 public:
  explicit Page(std::function<ServerResponse()> show) : show_(std::move(show)) {}

  std::optional<ServerResponse> refuse(const ServerRequest& head) override {
    if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
    ServerResponse response = ServerResponse::text(405, "GET this\n");
    response.headers.emplace_back("allow", "GET, HEAD");
    return response;
  }
  Async<void> handle(net::ServerExchange& exchange) override { co_await exchange.respond(show_()); }

 private:
  std::function<ServerResponse()> show_;
};

// Everything that decides and records, put together once for all who are served.
struct Gate {
  Gate(Workspace& in, const ServeConfig& config, ErrorLines& lines, core::PlanShelf& shelf)
      : workspace(in),
        plans(shelf),
        log([&lines](std::string_view line) { lines.say(fmt::format("sallyport: {}", line)); }),
        pins(in.ledger()),
        loader(
            policy::PolicyOrigin::named(config.policy),
            {in.clock(), in.entropy(), in.ledger().fingerprint_key(), &in.ledger(), &in.patterns()},
            what_the_gateway_brings(pins)),
        watch(loader, plans, who_runs_this(), log),
        governor(
            {plans, in.ledger(), in.redactor(), in.clock(), in.entropy(), in.ledger().digest()}) {}

  Workspace& workspace;
  core::PlanShelf& plans;
  mcp::Server::Log log;
  mcp::PinBook pins;
  policy::PolicyLoader loader;
  PolicyWatch watch;
  core::Governor governor;
};

// A tool server, ready to be put behind a gateway for each client.
struct Upstream {
  std::string name;
  mcp::ServerMaker make;
  mcp::EraHint era;
};

Result<std::vector<Upstream>> upstreams_of(const ServeConfig& config, const Workspace& workspace) {
  std::vector<Upstream> out;
  for (const ServeConfig::Upstream& named : config.upstreams) {
    McpOptions options{.name = named.name, .command = named.command};
    options.allow_http = named.allow_http;
    options.era = named.era;
    if (!named.url.empty()) options.url = named.url;
    if (!named.bearer_env.empty()) options.bearer_env = named.bearer_env;
    Result<McpUpstream> upstream = upstream_of(options);
    if (!upstream) {
      return fail(upstream.error().code,
                  fmt::format("the upstream `{}`: {}", named.name, upstream.error().message));
    }
    EraCache cache(workspace.place().data_dir, upstream->identity);
    out.push_back({named.name, std::move(upstream->make),
                   era_hint(options, std::move(cache), workspace.clock().wall())});
  }
  return out;
}

// Who serves one client, or all stateless requests of one agent.
mcp::HttpFront::Open gateways(asio::io_context& loop, Gate& gate,
                              const std::vector<Upstream>& upstreams) {
  return [&](const mcp::HttpFront::Caller& caller,
             std::unique_ptr<mcp::ClientLink> client) -> std::shared_ptr<mcp::Conversation> {
    const auto gateway = [&loop, &gate, caller](const Upstream& upstream,
                                                std::unique_ptr<mcp::ClientLink> link) {
      Workspace& workspace = gate.workspace;
      return std::make_shared<mcp::Gateway>(
          loop.get_executor(),
          mcp::Gateway::Parts{gate.governor, gate.plans, workspace.ledger(), workspace.redactor(),
                              workspace.clock(), workspace.entropy(), gate.pins},
          mcp::Gateway::Settings{.name = upstream.name,
                                 .make_server = upstream.make,
                                 .agent_id = caller.principal,
                                 .session_id = caller.session_id,
                                 .shared = caller.shared,
                                 .era = upstream.era,
                                 .log = gate.log},
          std::move(link));
    };
    if (upstreams.size() == 1) return gateway(upstreams.front(), std::move(client));
    std::vector<mcp::Switchboard::Upstream> lines;
    for (const Upstream& upstream : upstreams) {
      lines.push_back({upstream.name, [&upstream, gateway](std::unique_ptr<mcp::ClientLink> link) {
                         return gateway(upstream, std::move(link));
                       }});
    }
    mcp::Switchboard::Settings settings{.log = gate.log};
    return std::make_shared<mcp::Switchboard>(loop.get_executor(), std::move(client),
                                              std::move(lines), std::move(settings));
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

ServerResponse readiness(const ledger::Ledger& ledger, bool stopping) {
  if (stopping)
    return ServerResponse::json(503, R"({"ready":false,"why":"it is ending"})"
                                     "\n");
  const Result<void> ready = ledger.ready();
  if (ready) return ServerResponse::json(200, "{\"ready\":true}\n");
  const json::object said{{"ready", false}, {"why", ready.error().message}};
  return ServerResponse::json(503, json::serialize(said) + '\n');
}

// Those of the policy, where it is a file that names some, else those of the data folder. Looked up
// again each time: whoever is struck off the list cannot answer any more.
Result<trust::Reviewers> people_who_answer(const Context& context, const ServeConfig& config) {
  std::error_code code;
  if (std::filesystem::is_regular_file(config.policy, code)) {
    SALLYPORT_TRY(trust::Reviewers people, registered_reviewers(context, config.policy));
    if (!people.people.empty()) return people;
  }
  return registered_reviewers(context, std::nullopt);
}

std::string about_policy(const ServeConfig& config) {
  return config.policy == "starter"
             ? "the starter policy is in force: calls run by themselves, secrets are taken out of "
               "results, changed tools are held back"
             : fmt::format("the policy {} is in force", config.policy);
}

std::string about_tokens(const ServeConfig& config, const AgentTokens& tokens) {
  if (!config.needs_token) return "no token is asked for, so every program here is one of yours";
  if (tokens.file().empty()) return fmt::format("tokens of {} agents", config.agents.size());
  return fmt::format("the token is in {}", tokens.file().string());
}

Result<void> announce(const Context& context, const ServeConfig& config, const Gate& gate,
                      const AgentTokens& tokens, const std::string& url) {
  const std::string folder = gate.workspace.place().data_dir.string();
  gate.log(fmt::format("{} {} served at {}; {}; {}; all is recorded in {}", names_of(config),
                       config.upstreams.size() == 1 ? "is" : "are", url, about_policy(config),
                       about_tokens(config, tokens), folder));
  if (!context.json()) return {};
  json::object said{{"url", url},
                    {"policy", config.policy},
                    {"policy_hash", gate.plans.current()->hash()},
                    {"data_dir", folder}};
  if (!tokens.file().empty()) said["token_file"] = tokens.file().string();
  say(json::serialize(said));
  return finish_output();
}

// Until a signal comes and all that runs has ended.
void run_until_stopped(asio::io_context& loop, net::HttpServer& server, mcp::HttpFront& front,
                       PolicyWatch& watch, bool& stopping) {
  asio::signal_set signals(loop, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    stopping = true;
    server.stop();
    front.stop();
    watch.stop();
  });
  asio::co_spawn(loop, server.run(kGoodbye), asio::detached);
  asio::co_spawn(loop, front.run(), asio::detached);
  asio::co_spawn(loop, watch.run(), asio::detached);
  loop.restart();
  loop.run();
}

}  // namespace

Result<int> serve(const Context& context, const ServeOptions& options) {
  SALLYPORT_TRY(Workspace::Place place, context.place());
  if (!place.config.serve) {
    return fail(
        ErrorCode::InvalidInput,
        "the configuration has no section `serve`; name one with --config, see docs/serve.md");
  }
  ServeConfig config = *place.config.serve;
  if (options.policy) config.policy = *options.policy;
  signal(SIGPIPE, SIG_IGN);
  ErrorLines lines;
  SALLYPORT_TRY(
      const std::unique_ptr<Workspace> workspace,
      Workspace::open_writing(std::move(place),
                              {.role = "serve", .close_interrupted = core::close_interrupted}));
  ledger::Ledger& ledger = workspace->ledger();
  asio::io_context loop(1);
  SALLYPORT_TRY(const auto before, ledger.fact("policy", "hash"));
  core::PlanShelf plans(ledger, before.value_or(""));
  SALLYPORT_TRY(const std::vector<Upstream> upstreams, upstreams_of(config, *workspace));
  Gate gate(*workspace, config, lines, plans);
  SALLYPORT_CHECK_OK(run_on(loop, gate.watch.load()));
  SALLYPORT_CHECK_OK(run_on(loop, gate.governor.start()));
  SALLYPORT_TRY(const AgentTokens tokens,
                AgentTokens::open(config, who_runs_this(), workspace->place().data_dir,
                                  workspace->entropy()));

  net::HttpServer server(loop.get_executor(), {}, gate.log);
  SALLYPORT_TRY(const std::uint16_t port, server.listen(config.address, config.port));
  server.serve_only(names_of(config, port));
  const std::string origin = "http://" + authority(config, port);
  const std::string url = origin + "/mcp";
  mcp::HttpFront front(loop.get_executor(),
                       {workspace->clock(), workspace->entropy(), gateways(loop, gate, upstreams),
                        [&](const ServerRequest& request) { return tokens.agent_of(request); },
                        [&] { return plans.current()->hash(); }, gate.log},
                       {.front = {.sessions = config.sessions, .idle = config.idle},
                        .metadata = origin + "/.well-known/oauth-protected-resource/mcp"});
  bool stopping = false;
  Page health([] { return ServerResponse::text(200, "ok\n"); });
  Page ready([&] { return readiness(ledger, stopping); });
  Page metadata([&] {
    return ServerResponse::json(
        200, json::serialize(json::object{{"resource", url},
                                          {"bearer_methods_supported", json::array{"header"}},
                                          {"resource_name", "sallyport"}}));
  });
  ApprovalsApi approvals({ledger, gate.governor, workspace->clock(),
                          [&] { return people_who_answer(context, config); },
                          [&] { return stopping; }});
  server.route("/mcp", front);
  server.route(ApprovalsApi::kPath, approvals);
  server.route(fmt::format("{}/", ApprovalsApi::kPath), approvals);
  server.route("/healthz", health);
  server.route("/readyz", ready);
  server.route("/.well-known/oauth-protected-resource", metadata);
  server.route("/.well-known/oauth-protected-resource/mcp", metadata);
  SALLYPORT_CHECK_OK(announce(context, config, gate, tokens, url));
  run_until_stopped(loop, server, front, gate.watch, stopping);
  return 0;
}

}  // namespace sallyport::app
