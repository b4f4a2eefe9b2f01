// `sallyport serve`: the gate as a server of its own, for clients that come over HTTP and for hooks
// of coding agents. Without tool servers it is there for hooks alone.
#include "app/daemon/serve.h"

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
#include <set>

#include "app/daemon/api/approvals_api.h"
#include "app/daemon/config_watch.h"
#include "app/daemon/door/console_door.h"
#include "app/daemon/door/hook_door.h"
#include "app/daemon/door/model_door.h"
#include "app/daemon/door/relay_door.h"
#include "app/daemon/login/admission_log.h"
#include "app/daemon/login/authenticator.h"
#include "app/daemon/serve_pages.h"
#include "app/daemon/telemetry_setup.h"
#include "app/daemon/tls_watch.h"
#include "app/gate.h"
#include "app/gateway_plan.h"
#include "app/outside/event_feed.h"
#include "app/servers/served_upstreams.h"
#include "app/terminal/exit_code.h"
#include "app/terminal/input.h"
#include "app/terminal/output.h"
#include "base/json_members.h"
#include "base/try.h"
#include "mcp/client/http_front.h"
#include "oauth/metadata.h"
#include "policy/yaml_json.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kGoodbye{15'000};
constexpr std::chrono::milliseconds kLastFrames{1'000};  // for streams that are still there then

LogForm form_of(const ServeOptions& options) {
  return options.log == "json" ? LogForm::Json : LogForm::Text;
}

std::string names_of(const ServeConfig& config) {
  std::string names;
  for (const ServeConfig::ToolServer& upstream : config.upstreams) {
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
  if (config.is_local()) {
    names.hosts.push_back(fmt::format("localhost:{}", port));
    // Browsers resolve it to this machine, and keep its cookies from other ports of `localhost`.
    names.hosts.push_back(fmt::format("sallyport.localhost:{}", port));
  }
  const auto own = [&](const std::string& host) {
    names.origins.push_back(fmt::format("{}{}", config.scheme(), host));
  };
  // Pages of our own are not foreign. Who stands behind another name is known where we prove it.
  for (const std::string& host : names.hosts) own(host);
  for (const std::string& host : config.hosts) {
    names.hosts.push_back(host);
    names.hosts.push_back(fmt::format("{}:{}", host, port));
    if (!config.tls) continue;
    own(host);
    own(fmt::format("{}:{}", host, port));
  }
  return names;
}

void warn_of_missing_programs(Gate& gate, const ServeConfig& config) {
  for (const auto& [name, why] : missing_programs(config)) {
    gate.log(
        fmt::format("warning: the upstream `{}` cannot be started: {}; its tools are not there",
                    std::string_view(name), std::string_view(why.as_string())));
  }
}

// What stands behind `public_url`; nothing where there is none.
std::string public_address(const ServeConfig& config, std::string_view path) {
  if (config.public_url.empty()) return {};
  std::string_view base = config.public_url;
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}{}", base, path);
}

// Where people find the console. On this machine a name whose cookies no other port gets.
std::string console_address(const ServeConfig& config, std::uint16_t port) {
  if (!config.public_url.empty()) return public_address(config, "/console/");
  const std::string host = config.is_local() && !config.tls
                               ? fmt::format("sallyport.localhost:{}", port)
                               : authority(config, port);
  return fmt::format("{}{}/console/", config.scheme(), host);
}

// Without tools over HTTP no token is needed, and none is made.
Result<AgentTokens> tokens_of(const ServeConfig& config, Gate& gate) {
  if (config.is_for_hooks_alone() || !config.has_http()) return AgentTokens::of({});
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

std::string provider_names(const proxy::Settings& models) {
  std::string names;
  for (const proxy::UpstreamSettings& upstream : models.upstreams) {
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", upstream.name);
  }
  return names;
}

// The address without the path of the tools.
std::string origin_of(std::string_view url) {
  constexpr std::string_view kTools = "/mcp";
  if (url.ends_with(kTools)) url.remove_suffix(kTools.size());
  return std::string(url);
}

std::string about_service(const ServeConfig& config, const Gate& gate, const AgentTokens& tokens,
                          const std::string& url) {
  if (!config.has_http()) {
    return fmt::format("users of this machine are served at {}, {} tool servers; {}",
                       config.socket_dir->string(), config.upstreams.size(), gate.about_policy());
  }
  if (config.is_for_hooks_alone()) {
    return fmt::format(
        "hooks of coding agents are answered, each by the policy that it names; people answer at "
        "{}{}",
        url, ApprovalsApi::kPath);
  }
  std::string served;
  if (config.has_tools()) {
    served = fmt::format("{} {} served at {}; ", names_of(config),
                         config.upstreams.size() == 1 ? "is" : "are", url);
  }
  if (config.models) {
    served += fmt::format("models of {} are served at {}/v1; ", provider_names(*config.models),
                          origin_of(url));
  }
  return fmt::format("{}{}; {}", served, gate.about_policy(), about_tokens(config, tokens));
}

Result<void> announce(const Context& context, const ServeConfig& config, Gate& gate,
                      const AgentTokens& tokens, const std::string& url) {
  const std::string folder = gate.workspace().place().data_dir.string();
  gate.log(fmt::format("{}; all is recorded in {}", about_service(config, gate, tokens, url),
                       gate.workspace().place().log_name()));
  if (!context.json()) return {};
  json::object said{{"policy", config.policy},
                    {"policy_hash", gate.plans().current()->hash()},
                    {"data_dir", folder}};
  if (config.has_http()) said["url"] = url;
  if (config.has_http() && config.models) said["models_url"] = origin_of(url) + "/v1";
  if (!tokens.file().empty()) said["token_file"] = tokens.file().string();
  if (config.is_system_service()) said["socket_dir"] = config.socket_dir->string();
  say(json::serialize(said));
  return finish_output();
}

// Something that is not ours stands where the sockets of the service belong: on record, because
// clients may have met it.
void tell_of_stranger(Gate& gate, const Error& error) {
  const json::object body{
      {"who", "unknown"}, {"what", "socket"}, {"place", error.where}, {"reason", error.message}};
  const auto told =
      gate.ledger().transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
        return std::vector{ledger::control("refused_control", body)};
      });
  if (!told) gate.log(told.error().message);
}

// Users of this machine have no other way, so all sockets open or none.
Result<void> open_system(HookDoor& hooks, RelayDoor& relays, Gate& gate) {
  Result<void> open = hooks.open();
  if (open) open = relays.open();
  if (open) return {};
  if (open.error().code == ErrorCode::Unauthenticated) tell_of_stranger(gate, open.error());
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

// What runs beside each other, and ends together.
struct Running {
  Gate& gate;
  net::HttpServer& server;
  mcp::HttpFront& front;
  ServePages& pages;
  HookDoor& hooks;
  ConsoleDoor* console;           // null: no web console
  RelayDoor* relays;              // null: no service of the system set-up
  TlsWatch* tls;                  // null: plain HTTP
  ModelDoor* models;              // null: no model proxy
  telemetry::Exporter* exporter;  // null: no collector is configured
  bool http;

  void stop() const {
    pages.stop();
    server.stop();
    front.stop();
    hooks.stop();
    if (console != nullptr) console->stop();
    if (relays != nullptr) relays->stop();
    if (tls != nullptr) tls->stop();
    if (!http && exporter != nullptr) exporter->stop();
    if (models != nullptr) models->stop(kGoodbye - kLastFrames);
    gate.stop_watching();
  }
};

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

// The section `serve` of the configuration as it is written now.
Result<json::object> written_section(const Context& context) {
  SALLYPORT_TRY(const std::optional<std::filesystem::path> file, context.config_file());
  if (!file) return json::object();
  constexpr std::size_t kLargest = 1u << 20;
  SALLYPORT_TRY(const std::string text, read_input(*file, kLargest));
  SALLYPORT_TRY(const policy::YamlNode root, policy::parse_yaml(text, file->string()));
  SALLYPORT_TRY(const json::value document, policy::to_json(root, file->string()));
  const json::object* const whole = document.if_object();
  const json::object* const section = whole ? object_in(*whole, "serve") : nullptr;
  return section ? *section : json::object();
}

// Takes up policy, tokens, models and the certificate as the configuration names them now, when
// SIGHUP comes or its file has changed.
class Reload {
 public:
  Reload(const Context& context, const ServeOptions& options, Gate& gate,
         Authenticator& authenticator, TlsWatch* tls, ModelDoor* models)
      : context_(context),
        options_(options),
        gate_(gate),
        authenticator_(authenticator),
        tls_(tls),
        models_(models) {
    if (const auto section = written_section(context)) at_start_ = *section;
    const auto file = context.config_file();
    if (!file || !*file) return;
    watch_.emplace(**file, [this] { return again("its file has changed"); });
  }

  // Null: there is no file.
  ConfigWatch* watch() { return watch_ ? &*watch_ : nullptr; }

  // One after the other: what comes while it runs makes it run once more.
  Async<void> again(std::string_view why) {
    waiting_ = true;
    if (std::exchange(running_, true)) co_return;
    while (std::exchange(waiting_, false)) co_await once(why);
    running_ = false;
  }

 private:
  Async<void> once(std::string_view why) {
    if (watch_) watch_->known();
    gate_.log(fmt::format("{}: the configuration is read again", why));
    const Result<void> taken = co_await take_up();
    if (taken) co_return;
    gate_.log(fmt::format("the configuration was refused, what was in force stays: {}{}{}",
                          taken.error().where, taken.error().where.empty() ? "" : ": ",
                          taken.error().message));
  }

  Task<void> take_up() {
    SALLYPORT_CO_TRY(const ServeConfig config, config_of(context_, options_));
    SALLYPORT_CO_TRY(AgentTokens tokens, tokens_of(config, gate_));
    SALLYPORT_CO_TRY(const json::object section, written_section(context_));
    const bool has_tls = tls_ != nullptr && config.tls;
    std::unique_ptr<net::ServerTls> certificate;
    if (has_tls) {
      SALLYPORT_CO_TRY(certificate, tls_->read(*config.tls));
    }
    std::optional<ModelDoor::Change> models;
    if (models_ != nullptr && config.models) {
      SALLYPORT_CO_TRY(models, models_->prepare(*config.models));
    }
    SALLYPORT_CO_CHECK_OK(co_await gate_.turn_to_policy(context_, config.policy));
    if (has_tls) tls_->use(*config.tls, std::move(certificate));
    authenticator_.replace(std::move(tokens));
    if (models) models_->take_up(std::move(*models));
    gate_.log(
        fmt::format("{}; {}", gate_.about_policy(), about_tokens(config, authenticator_.tokens())));
    if (const std::string later = changed(section); !later.empty()) {
      gate_.log(fmt::format("a change of {} counts from the next start", later));
    }
    co_return Result<void>{};
  }

  // What is not taken up while it runs.
  std::string changed(const json::object& section) const {
    std::set<std::string> names;
    for (const json::object* const one : {&at_start_, &section}) {
      for (const json::key_value_pair& pair : *one) {
        const json::value* const then = at_start_.if_contains(pair.key());
        const json::value* const now = section.if_contains(pair.key());
        const bool same = then != nullptr && now != nullptr && *then == *now;
        const bool taken_up = pair.key() == "policy" || pair.key() == "agents" ||
                              (pair.key() == "models" && then != nullptr && now != nullptr) ||
                              (pair.key() == "tls" && is_files(then) && is_files(now));
        if (!same && !taken_up) names.insert(pair.key());
      }
    }
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
    return text;
  }

  static bool is_files(const json::value* tls) { return tls != nullptr && tls->is_object(); }

  const Context& context_;
  const ServeOptions& options_;
  Gate& gate_;
  Authenticator& authenticator_;
  TlsWatch* tls_;      // null: plain HTTP
  ModelDoor* models_;  // null: no model proxy
  json::object at_start_;
  std::optional<ConfigWatch> watch_;
  bool running_ = false;
  bool waiting_ = false;
};

// Until `hangups` is cancelled.
Async<void> reload_on(asio::signal_set& hangups, Reload& reload) {
  while (true) {
    const auto [error, number] = co_await hangups.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error) co_return;
    co_await reload.again("SIGHUP");
  }
}

// Spans of the last requests are exported too.
Async<void> run_http(net::HttpServer& server, telemetry::Exporter* exporter) {
  co_await server.run(kGoodbye);
  if (exporter != nullptr) exporter->stop();
}

// Until a signal comes and all that runs has ended.
void run_until_stopped(const Running& running, asio::signal_set& signals, asio::signal_set& hangups,
                       Reload& reload) {
  auto& [gate, server, front, pages, hooks, console, relays, tls, models, exporter, http] = running;
  asio::io_context& loop = gate.loop();
  asio::co_spawn(loop, reload_on(hangups, reload), asio::detached);
  if (reload.watch() != nullptr) asio::co_spawn(loop, reload.watch()->run(), asio::detached);
  signals.async_wait([&](const boost::system::error_code& error, int number) {
    if (error) return;
    hangups.cancel();
    if (reload.watch() != nullptr) reload.watch()->stop();
    gate.log(fmt::format("SIG{}: this ends, and calls on their way are cancelled and recorded",
                         sigabbrev_np(number)));
    running.stop();
  });
  if (http) {
    asio::co_spawn(loop, run_http(server, exporter), [&](const std::exception_ptr&) {
      if (models != nullptr) models->stopped();
    });
  }
  if (exporter != nullptr) asio::co_spawn(loop, exporter->run(), asio::detached);
  if (console != nullptr) asio::co_spawn(loop, console->run(kGoodbye), asio::detached);
  if (relays != nullptr) asio::co_spawn(loop, relays->run(kGoodbye), asio::detached);
  if (tls != nullptr) asio::co_spawn(loop, tls->run(), asio::detached);
  asio::co_spawn(loop, front.run(), asio::detached);
  asio::co_spawn(loop, hooks.run(kGoodbye), asio::detached);
  gate.start_watching();
  gate.run_loop();
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

// Of one agent: where there are several, none of them takes every place.
std::uint64_t sessions_each(const ServeConfig& config) {
  const bool several = config.agents.size() > 1 || config.authorization;
  return several ? (config.sessions + 1) / 2 : config.sessions;
}

// The addresses of the server: as it listens, and as agents compare it with the address that they
// were given (RFC 9728).
struct Addresses {
  std::string url;
  std::string resource;
};

Addresses addresses_of(const ServeConfig& config, std::uint16_t port) {
  const std::string origin = fmt::format("{}{}", config.scheme(),
                                         config.has_http() ? authority(config, port) : "localhost");
  const std::string url = config.has_tools() ? origin + "/mcp" : origin;
  return {url, config.public_url.empty() ? url : public_address(config, "/mcp")};
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

// Of us at the provider where people sign in. Empty: a public client, or no provider.
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

Result<int> run_server(const Context& context, const ServeOptions& options) {
  SALLYPORT_TRY(const ServeConfig config, config_of(context, options));
  signal(SIGPIPE, SIG_IGN);
  SALLYPORT_TRY(const std::unique_ptr<Gate> gate,
                Gate::open(context, {.role = "serve",
                                     .front = "mcp_http",
                                     .policy = config.policy,
                                     .log = form_of(options),
                                     .approvals_url = public_address(
                                         config, fmt::format("{}/", ApprovalsApi::kPath))}));
  Workspace& workspace = gate->workspace();
  const auto log = [&](std::string_view line) { gate->log(line); };
  SALLYPORT_TRY(const std::vector<ServedUpstream> upstreams, served_upstreams(config, workspace));
  SALLYPORT_TRY(AgentTokens tokens, tokens_of(config, *gate));
  Authenticator authenticator(std::move(tokens));

  net::HttpLimits limits;
  if (config.models) limits.connections = ModelDoor::kConnections;
  net::HttpServer server(gate->loop().get_executor(), limits, log);
  std::optional<TlsWatch> tls;
  if (config.tls) {
    SALLYPORT_CHECK_OK(tls.emplace(server, gate->metrics(), log).open(*config.tls));
  }
  std::uint16_t port = 0;
  if (config.has_http()) {
    SALLYPORT_TRY(port, server.listen(config.address, config.port));
  }
  server.serve_only(names_of(config, port));
  const auto [url, resource] = addresses_of(config, port);
  SALLYPORT_TRY(mcp::HttpFront::Settings settings, front_settings(config, resource));
  if (config.authorization) {
    authenticator.trust({.clock = workspace.clock(),
                         .issuers = trusted_issuers(*config.authorization, resource),
                         .scopes = config.authorization->scopes,
                         .log = log});
  }
  mcp::HttpFront front(
      gate->loop().get_executor(),
      {workspace.clock(), workspace.entropy(), gateways(*gate, upstreams),
       [&](const net::ServerRequest& request) { return authenticator.principal_of(request); },
       [&] { return gate->plans().current()->hash(); }, log},
      std::move(settings));
  count_http(gate->metrics(), server, front);
  AdmissionLog admissions(gate->governor().emitter(), workspace.clock());
  server.on_refusal([&](std::string route, unsigned status, std::string why) {
    return admissions.record(std::move(route), status, std::move(why));
  });
  std::optional<ModelDoor> models;
  if (config.models && config.has_http()) {
    const std::string approvals = fmt::format("{}/", ApprovalsApi::kPath);
    models.emplace(*gate, authenticator,
                   config.public_url.empty()
                       ? fmt::format("{}{}{}", config.scheme(), authority(config, port), approvals)
                       : public_address(config, approvals));
    SALLYPORT_CHECK_OK(models->open(*config.models));
    models->route(server);
  }
  ModelDoor* const model_door = models ? &*models : nullptr;
  SALLYPORT_TRY(std::string oidc_secret, oidc_secret_of(config));
  ServePages pages({context, config, *gate, resource, model_door, console_address(config, port),
                    std::move(oidc_secret)});
  pages.route(server, front);
  warn_of_missing_programs(*gate, config);
  // A client that learns that the server listens may end it at once.
  asio::signal_set signals(gate->loop(), SIGINT, SIGTERM);
  asio::signal_set hangups(gate->loop(), SIGHUP);
  HookDoor hooks(*gate, config);
  std::optional<RelayDoor> relays;
  if (config.is_system_service()) {
    relays.emplace(*gate, config, upstreams);
    SALLYPORT_CHECK_OK(open_system(hooks, *relays, *gate));
  } else {
    SALLYPORT_CHECK_OK(open_hooks(hooks, config, *gate));
  }
  std::optional<ConsoleDoor> console;
  if (config.has_http() && (!config.console || config.console->enabled)) {
    console.emplace(ConsoleDoor::Parts{gate->loop().get_executor(), workspace.place().data_dir,
                                       console_address(config, port), gate->ledger().origin(),
                                       pages.people(), pages.links(), pages.passkeys(),
                                       workspace.clock(), log});
    // Without it people sign in with their tokens.
    if (const Result<void> open = console->open(); !open) {
      gate->log(fmt::format("`sallyport console` gets no links: {}", open.error().message));
    }
  }
  SALLYPORT_TRY(const std::unique_ptr<telemetry::Exporter> exporter, exporter_of(config, *gate));
  SALLYPORT_TRY(const auto feeds,
                open_feeds(config.events, {gate->ledger(), workspace.clock(), gate->metrics(),
                                           workspace.place().data_dir, log}));
  TlsWatch* const certificate = tls ? &*tls : nullptr;
  Reload reload(context, options, *gate, authenticator, certificate, model_door);
  asio::co_spawn(gate->loop(), authenticator.warm_up(), asio::detached);
  SALLYPORT_CHECK_OK(announce(context, config, *gate, authenticator.tokens(), url));
  run_until_stopped(
      {*gate, server, front, pages, hooks, console ? &*console : nullptr,
       relays ? &*relays : nullptr, certificate, model_door, exporter.get(), config.has_http()},
      signals, hangups, reload);
  return 0;
}

}  // namespace

Result<int> serve(const Context& context, const ServeOptions& options) {
  Result<int> code = run_server(context, options);
  if (code || form_of(options) != LogForm::Json) return code;
  // The last line of the log is one like the others.
  const std::string message =
      error_line(code.error()).substr(std::string_view("sallyport: ").size());
  const std::string line =
      log_line(LogForm::Json, SystemClock().wall(), "error: " + message) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code(code.error().code);
}

}  // namespace sallyport::app
