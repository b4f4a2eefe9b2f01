#include "daemon/serve_pages.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <functional>

#include "daemon/served_upstreams.h"

namespace sallyport::app {

namespace {

using net::ServerRequest;
using net::ServerResponse;

// Something to look at that says nothing secret.
class OpenPage final : public net::HttpHandler {
 public:
  explicit OpenPage(std::function<ServerResponse()> show) : show_(std::move(show)) {}

  Async<std::optional<ServerResponse>> refuse(ServerRequest& head) override {
    if (head.method == "GET" || head.method == "HEAD") co_return std::nullopt;
    ServerResponse response = ServerResponse::text(405, "only GET is allowed here\n");
    response.headers.emplace_back("allow", "GET, HEAD");
    co_return response;
  }
  Async<void> handle(net::ServerExchange& exchange) override { co_await exchange.respond(show_()); }

 private:
  std::function<ServerResponse()> show_;
};

// Serves `/mcp` if no tool server is behind the gate.
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

// On an address that others reach, only holders of its token may read the page: it names agents,
// servers and rules.
bool shows_metrics(const ServeConfig& config) {
  return config.only_here() || !config.metrics_sha256.empty();
}

ConsoleConfig console_of(const ServeConfig& config) {
  return config.console.value_or(ConsoleConfig{});
}

// A shipped policy is never read from a file, even if one has its name.
std::optional<std::filesystem::path> policy_file(const ServeConfig& config) {
  if (policy::PolicyOrigin::shipped(config.policy)) return std::nullopt;
  return config.policy;
}

std::optional<std::filesystem::path> config_file(const Context& context) {
  const auto file = context.config_file();
  return file ? *file : std::nullopt;
}

std::optional<AgentTokens> metrics_readers(const ServeConfig& config) {
  if (config.metrics_sha256.empty()) return std::nullopt;
  return AgentTokens::of({{.name = "metrics", .token_sha256 = config.metrics_sha256}});
}

}  // namespace

ServePages::ServePages(Parts parts)
    : parts_(std::move(parts)),
      people_({parts_.gate.ledger(), policy_file(parts_.config),
               parts_.gate.workspace().place().reviewers_file(), config_file(parts_.context)}),
      metrics_({parts_.gate.metrics(), parts_.gate.ledger(), parts_.gate.workspace().clock()},
               metrics_readers(parts_.config)),
      opened_(parts_.gate.ledger(), parts_.gate.workspace().clock()),
      log_size_(parts_.gate.ledger(), parts_.gate.workspace().clock()),
      links_(parts_.gate.workspace().clock(), parts_.gate.workspace().entropy()),
      passkeys_({parts_.gate.ledger(), people_, parts_.gate.workspace().clock(),
                 parts_.gate.workspace().entropy(), parts_.gate.ledger().origin()}),
      session_({people_, links_, passkeys_, parts_.gate.workspace().clock(),
                console_of(parts_.config).strong, console_of(parts_.config).policies}),
      passkeys_api_(passkeys_),
      approvals_({parts_.gate.ledger(), parts_.gate.governor(), parts_.gate.workspace().clock(),
                  opened_, log_size_, [this] { return people_.now(); },
                  [this] { return stopping_; }, console_of(parts_.config).strong}),
      records_({parts_.gate.ledger(), opened_, parts_.gate.workspace().clock(),
                parts_.gate.workspace().place().ledger_file()}),
      stream_({parts_.gate.ledger(), parts_.gate.workspace().clock(), log_size_, opened_,
               [this] { return stopping_; }, [this] { return backtests_.list(); }}),
      agents_({parts_.gate.ledger(), parts_.gate.workspace().clock(),
               parts_.gate.workspace().entropy(), [this] { return people_.now(); }}),
      pins_({parts_.gate.ledger(), parts_.gate.recorder(), opened_}),
      grants_({parts_.gate.ledger(), parts_.gate.recorder(), parts_.gate.workspace().clock()}),
      explain_({parts_.gate.ledger(), parts_.gate.workspace().place(), parts_.context.environment,
                opened_}),
      desk_(parts_.gate, console_of(parts_.config).policies,
            parts_.gate.workspace().place().data_dir / "drafts"),
      policies_({parts_.gate, parts_.context.environment, opened_, desk_}),
      backtests_(explain_.scene(), parts_.gate.workspace().clock()),
      backtests_api_({parts_.gate.ledger(), desk_, backtests_}),
      api_({parts_.gate.workspace().clock(), parts_.gate.workspace().entropy(), people_}),
      health_(std::make_unique<OpenPage>([] { return ServerResponse::text(200, "ok\n"); })),
      ready_(std::make_unique<OpenPage>([this] { return readiness(); })),
      metadata_(std::make_unique<OpenPage>(
          [this] { return ServerResponse::json(200, json::serialize(resource_description())); })),
      no_tools_(std::make_unique<NoTools>()) {
  session_.add_to(api_);
  passkeys_api_.add_to(api_);
  if (const ConsoleConfig console = console_of(parts_.config); console.oidc) {
    oidc_.emplace(OidcLogin::Parts{people_.oidc(), links_, parts_.gate.workspace().clock(),
                                   parts_.gate.workspace().entropy(), parts_.console,
                                   std::move(parts_.oidc_secret),
                                   [this](std::string_view line) { parts_.gate.log(line); }},
                  *console.oidc);
    oidc_->add_to(api_);
  }
  approvals_.add_to(api_);
  records_.add_to(api_);
  stream_.add_to(api_);
  agents_.add_to(api_);
  pins_.add_to(api_);
  grants_.add_to(api_);
  explain_.add_to(api_);
  policies_.add_to(api_);
  backtests_api_.add_to(api_);
}

void ServePages::route(net::HttpServer& server, net::HttpHandler& tools) {
  const bool none = !parts_.config.has_tools();
  net::HttpHandler& metadata = none ? *no_tools_ : *metadata_;
  server.route("/mcp", none ? *no_tools_ : tools);
  server.route("/.well-known/oauth-protected-resource", metadata);
  server.route("/.well-known/oauth-protected-resource/", metadata);
  const net::RouteLimits limits{.body_bytes = api::HttpApi::kLargestBody};
  server.route(std::string(api::kRoot), api_, limits);
  server.route(fmt::format("{}/", api::kRoot), api_, limits);
  server.route(ApprovalsApi::kPath, api_, limits);
  server.route(fmt::format("{}/", ApprovalsApi::kPath), api_, limits);
  if (console_of(parts_.config).enabled) {
    server.route(std::string(console::ConsolePages::kPath), console_);
    server.route(fmt::format("{}/", console::ConsolePages::kPath), console_);
  }
  server.route("/healthz", *health_);
  server.route("/readyz", *ready_);
  if (shows_metrics(parts_.config)) server.route("/metrics", metrics_);
}

ServerResponse ServePages::readiness() const {
  if (stopping_) {
    return ServerResponse::json(503, "{\"ready\":false,\"why\":\"it is ending\"}\n");
  }
  const ServeConfig& config = parts_.config;
  const Result<void> ready = parts_.gate.ledger().ready();
  if (ready) {
    json::object body{{"ready", true}};
    // Remote clients without a token must not learn what runs here.
    json::object missing = config.only_here() ? missing_programs(config) : json::object();
    if (!missing.empty()) body["missing"] = std::move(missing);
    if (parts_.models != nullptr) {
      const std::vector<std::string> open = parts_.models->open_circuits();
      if (!open.empty()) body["open_circuits"] = json::array(open.begin(), open.end());
    }
    return ServerResponse::json(200, json::serialize(body) + '\n');
  }
  // Nor may they learn where its files are.
  const std::string& cause = ready.error().cause;
  const json::object body{{"ready", false},
                          {"why", config.only_here() ? ready.error().message : cause}};
  return ServerResponse::json(503, json::serialize(body) + '\n');
}

// The metadata for clients that need a token (RFC 9728).
json::object ServePages::resource_description() const {
  json::object out{{"resource", parts_.resource},
                   {"bearer_methods_supported", json::array{"header"}},
                   {"resource_name", "sallyport"}};
  if (!parts_.config.authorization) return out;
  json::array issuers;
  for (const auto& issuer : parts_.config.authorization->issuers) {
    issuers.emplace_back(issuer.issuer);
  }
  out["authorization_servers"] = std::move(issuers);
  const std::vector<std::string>& scopes = parts_.config.authorization->scopes;
  if (!scopes.empty()) out["scopes_supported"] = json::array(scopes.begin(), scopes.end());
  return out;
}

}  // namespace sallyport::app
