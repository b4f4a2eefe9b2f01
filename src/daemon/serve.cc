// `sallyport serve`: the gate as a server of its own, for clients that come over HTTP and for hooks
// of coding agents. Without tool servers and models it serves only hooks.
#include "daemon/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <cstdio>

#include "app/gate.h"
#include "base/try.h"
#include "daemon/api/approvals_api.h"
#include "daemon/door/console_door.h"
#include "daemon/door/hook_door.h"
#include "daemon/door/model_door.h"
#include "daemon/door/relay_door.h"
#include "daemon/login/admission_log.h"
#include "daemon/login/authenticator.h"
#include "daemon/serve_addresses.h"
#include "daemon/serve_notice.h"
#include "daemon/serve_pages.h"
#include "daemon/serve_reload.h"
#include "daemon/served_upstreams.h"
#include "daemon/telemetry_setup.h"
#include "daemon/tls_watch.h"
#include "mcp/client/http_front.h"
#include "oauth/metadata.h"
#include "outside/event_feed.h"
#include "terminal/exit_code.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kGoodbye{15'000};
constexpr std::chrono::milliseconds kLastFrames{1'000};  // for streams that are still there then

LogForm form_of(const ServeOptions& options) {
  return options.log == "json" ? LogForm::Json : LogForm::Text;
}

void warn_of_missing_programs(Gate& gate, const ServeConfig& config) {
  for (const auto& [name, why] : missing_programs(config)) {
    gate.log(fmt::format("warning: the upstream `{}` cannot be started: {}; its tools are missing",
                         std::string_view(name), std::string_view(why.as_string())));
  }
}

// Records a foreign file in the place of the service's sockets, because clients may have connected
// to it.
void record_stranger(Gate& gate, const Error& error) {
  const json::object body{
      {"who", "unknown"}, {"what", "socket"}, {"place", error.where}, {"reason", error.message}};
  const auto recorded =
      gate.ledger().transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
        return std::vector{ledger::control("refused_control", body)};
      });
  if (!recorded) gate.log(recorded.error().message);
}

// Users of this machine have no other way, so all sockets open or none.
Result<void> open_system(HookDoor& hooks, RelayDoor& relays, Gate& gate) {
  Result<void> open = hooks.open();
  if (open) open = relays.open();
  if (open) return {};
  if (open.error().code == ErrorCode::Unauthenticated) record_stranger(gate, open.error());
  return open;
}

// Without the socket, hooks decide alone. That is reported, and is an error only if there are no
// other clients.
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

// The limit of one agent: if there are several, none of them can take all sessions.
std::uint64_t sessions_each(const ServeConfig& config) {
  const bool several = config.agents.size() > 1 || config.authorization;
  return several ? (config.sessions + 1) / 2 : config.sessions;
}

Result<mcp::HttpFront::Settings> front_settings(const ServeConfig& config,
                                                const std::string& resource) {
  SALLYPORT_TRY(const net::Url url, net::Url::parse(resource));
  return mcp::HttpFront::Settings{
      .front = {.sessions = config.sessions,
                .sessions_each = sessions_each(config),
                .idle = config.idle},
      .metadata = oauth::resource_metadata_places(url).front(),
      .scope = config.authorization ? config.authorization->scope() : ""};
}

// Our client secret at the OpenID provider. Empty: a public client, or no provider.
Result<std::string> oidc_secret_of(const ServeConfig& config) {
  if (!config.console || !config.console->oidc) return std::string();
  const std::string& name = config.console->oidc->client_secret_env;
  if (name.empty()) return std::string();
  const char* const value = std::getenv(name.c_str());
  if (value != nullptr && *value != '\0') return std::string(value);
  return fail(
      ErrorCode::InvalidInput,
      fmt::format("`console.oidc.client_secret_env` names `{:.80}`, which is not set", name));
}

net::HttpLimits limits_of(const ServeConfig& config) {
  net::HttpLimits limits;
  if (config.models) limits.connections = ModelDoor::kConnections;
  return limits;
}

// Null: it is not there.
template <class T>
T* part_or_null(std::optional<T>& part) {
  return part ? &*part : nullptr;
}

// All parts that run at the same time and end together. Opened once, then run once.
class Service {
 public:
  Service(const Context& context, const ServeOptions& options, const ServeConfig& config,
          Gate& gate, std::vector<ServedUpstream> upstreams, AgentTokens tokens)
      : context_(context),
        options_(options),
        config_(config),
        gate_(gate),
        upstreams_(std::move(upstreams)),
        authenticator_(std::move(tokens)),
        server_(gate.loop().get_executor(), limits_of(config), log_),
        admissions_(gate.governor().emitter(), workspace_.clock()) {}

  Result<void> open() {
    SALLYPORT_CHECK_OK(listen());
    SALLYPORT_CHECK_OK(open_front());
    SALLYPORT_CHECK_OK(open_models());
    SALLYPORT_CHECK_OK(open_pages());
    warn_of_missing_programs(gate_, config_);
    // A client that learns that the server listens may end it at once.
    signals_.emplace(gate_.loop(), SIGINT, SIGTERM);
    hangups_.emplace(gate_.loop(), SIGHUP);
    SALLYPORT_CHECK_OK(open_doors());
    SALLYPORT_TRY(exporter_, exporter_of(config_, gate_));
    SALLYPORT_TRY(feeds_,
                  open_feeds(config_.events, {gate_.ledger(), workspace_.clock(), gate_.metrics(),
                                              workspace_.place().data_dir, log_}));
    reload_.emplace(ServeReload::Parts{context_, options_, gate_, authenticator_,
                                       part_or_null(tls_), part_or_null(models_)});
    asio::co_spawn(gate_.loop(), authenticator_.warm_up(), asio::detached);
    return announce(context_, config_, gate_, authenticator_.tokens(), addresses_);
  }

  // Until a signal comes and all that runs has ended.
  void run() {
    asio::io_context& loop = gate_.loop();
    ConfigWatch* const file = reload_->watch();
    asio::co_spawn(loop, reload_on_hangups(), asio::detached);
    if (file != nullptr) asio::co_spawn(loop, file->run(), asio::detached);
    signals_->async_wait([this](const boost::system::error_code& error, int number) {
      if (!error) stop(number);
    });
    if (config_.has_http()) {
      asio::co_spawn(loop, run_http(), [this](const std::exception_ptr&) {
        if (models_) models_->stopped();
      });
    }
    if (exporter_) asio::co_spawn(loop, exporter_->run(), asio::detached);
    if (console_) asio::co_spawn(loop, console_->run(kGoodbye), asio::detached);
    if (relays_) asio::co_spawn(loop, relays_->run(kGoodbye), asio::detached);
    if (tls_) asio::co_spawn(loop, tls_->run(), asio::detached);
    asio::co_spawn(loop, front_->run(), asio::detached);
    asio::co_spawn(loop, hooks_->run(kGoodbye), asio::detached);
    gate_.start_watching();
    gate_.run_loop();
  }

 private:
  Result<void> listen() {
    if (config_.tls) {
      SALLYPORT_CHECK_OK(tls_.emplace(server_, gate_.metrics(), log_).open(*config_.tls));
    }
    std::uint16_t port = 0;
    if (config_.has_http()) {
      SALLYPORT_TRY(port, server_.listen(config_.address, config_.port));
    }
    server_.serve_only(names_of(config_, port));
    addresses_ = addresses_of(config_, port);
    return {};
  }

  Result<void> open_front() {
    SALLYPORT_TRY(mcp::HttpFront::Settings settings, front_settings(config_, addresses_.resource));
    if (config_.authorization) {
      authenticator_.trust({.clock = workspace_.clock(),
                            .issuers = trusted_issuers(*config_.authorization, addresses_.resource),
                            .scopes = config_.authorization->scopes,
                            .log = log_});
    }
    front_.emplace(
        gate_.loop().get_executor(),
        mcp::HttpFront::Parts{workspace_.clock(), workspace_.entropy(), gateways(gate_, upstreams_),
                              [this](const net::ServerRequest& request) {
                                return authenticator_.principal_of(request);
                              },
                              [this] { return gate_.plans().current()->hash(); }, log_},
        std::move(settings));
    count_http(gate_.metrics(), server_, *front_);
    server_.on_refusal([this](std::string route, unsigned status, std::string why) {
      return admissions_.record(std::move(route), status, std::move(why));
    });
    return {};
  }

  Result<void> open_models() {
    if (!config_.models || !config_.has_http()) return {};
    models_.emplace(gate_, authenticator_, addresses_.approvals);
    SALLYPORT_CHECK_OK(models_->open(*config_.models));
    models_->route(server_);
    return {};
  }

  Result<void> open_pages() {
    SALLYPORT_TRY(std::string oidc_secret, oidc_secret_of(config_));
    pages_.emplace(ServePages::Parts{context_, config_, gate_, addresses_.resource,
                                     part_or_null(models_), addresses_.console,
                                     std::move(oidc_secret)});
    pages_->route(server_, *front_);
    return {};
  }

  Result<void> open_doors() {
    hooks_.emplace(gate_, config_);
    if (config_.is_system_service()) {
      relays_.emplace(gate_, config_, upstreams_);
      SALLYPORT_CHECK_OK(open_system(*hooks_, *relays_, gate_));
    } else {
      SALLYPORT_CHECK_OK(open_hooks(*hooks_, config_, gate_));
    }
    if (!config_.has_http() || (config_.console && !config_.console->enabled)) return {};
    console_.emplace(ConsoleDoor::Parts{gate_.loop().get_executor(), workspace_.place().data_dir,
                                        addresses_.console, gate_.ledger().origin(),
                                        pages_->people(), pages_->links(), pages_->passkeys(),
                                        workspace_.clock(), log_});
    // Without it people sign in with their tokens.
    if (const Result<void> open = console_->open(); !open) {
      gate_.log(fmt::format("`sallyport console` gets no links: {}", open.error().message));
    }
    return {};
  }

  // Until `hangups_` is cancelled.
  Async<void> reload_on_hangups() {
    while (true) {
      const auto [error, number] =
          co_await hangups_->async_wait(asio::as_tuple(asio::use_awaitable));
      if (error) co_return;
      co_await reload_->reload("SIGHUP");
    }
  }

  // Spans of the last requests are exported too.
  Async<void> run_http() {
    co_await server_.run(kGoodbye);
    if (exporter_) exporter_->stop();
  }

  void stop(int number) {
    hangups_->cancel();
    if (reload_->watch() != nullptr) reload_->watch()->stop();
    gate_.log(fmt::format("SIG{}: shutting down; running calls are cancelled and recorded",
                          sigabbrev_np(number)));
    pages_->stop();
    server_.stop();
    front_->stop();
    hooks_->stop();
    if (console_) console_->stop();
    if (relays_) relays_->stop();
    if (tls_) tls_->stop();
    if (!config_.has_http() && exporter_) exporter_->stop();
    if (models_) models_->stop(kGoodbye - kLastFrames);
    gate_.stop_watching();
  }

  const Context& context_;
  const ServeOptions& options_;
  const ServeConfig& config_;
  Gate& gate_;
  Workspace& workspace_ = gate_.workspace();
  const std::function<void(std::string_view)> log_ = [this](std::string_view line) {
    gate_.log(line);
  };
  const std::vector<ServedUpstream> upstreams_;
  Authenticator authenticator_;
  net::HttpServer server_;
  ServeAddresses addresses_{};
  std::optional<TlsWatch> tls_;  // nothing: plain HTTP
  std::optional<mcp::HttpFront> front_;
  AdmissionLog admissions_;
  std::optional<ModelDoor> models_;  // nothing: no model proxy
  std::optional<ServePages> pages_;
  std::optional<asio::signal_set> signals_;
  std::optional<asio::signal_set> hangups_;
  std::optional<HookDoor> hooks_;
  std::optional<RelayDoor> relays_;                // nothing: no service of the system set-up
  std::optional<ConsoleDoor> console_;             // nothing: no web console
  std::unique_ptr<telemetry::Exporter> exporter_;  // null: no collector is configured
  std::vector<std::unique_ptr<EventFeed>> feeds_;
  std::optional<ServeReload> reload_;
};

Result<int> run_server(const Context& context, const ServeOptions& options) {
  SALLYPORT_TRY(const ServeConfig config, serve_config_of(context, options));
  signal(SIGPIPE, SIG_IGN);
  SALLYPORT_TRY(const std::unique_ptr<Gate> gate,
                Gate::open(context, {.role = "serve",
                                     .front = "mcp_http",
                                     .policy = config.policy,
                                     .log = form_of(options),
                                     .approvals_url = public_address(
                                         config, fmt::format("{}/", ApprovalsApi::kPath))}));
  SALLYPORT_TRY(std::vector<ServedUpstream> upstreams, served_upstreams(config, gate->workspace()));
  SALLYPORT_TRY(AgentTokens tokens, tokens_of(config, *gate, config.models.has_value()));
  Service service(context, options, config, *gate, std::move(upstreams), std::move(tokens));
  SALLYPORT_CHECK_OK(service.open());
  service.run();
  return 0;
}

}  // namespace

Result<int> serve(const Context& context, const ServeOptions& options) {
  Result<int> code = run_server(context, options);
  if (code || form_of(options) != LogForm::Json) return code;
  // The last line has the form of the log, too.
  const std::string message =
      error_line(code.error()).substr(std::string_view("sallyport: ").size());
  const std::string line =
      log_line(LogForm::Json, SystemClock().wall(), "error: " + message) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code(code.error());
}

}  // namespace sallyport::app
