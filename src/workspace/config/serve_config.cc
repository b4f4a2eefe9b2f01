#include "workspace/config/serve_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/json.hpp>
#include <charconv>

#include "base/encoding.h"
#include "base/lower_case.h"
#include "base/try.h"
#include "net/url.h"
#include "workspace/config/config.h"
#include "workspace/config/config_values.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostAgents = 10'000;
constexpr std::size_t kMostNames = 256;
constexpr std::size_t kMostUpstreams = 64;
constexpr std::size_t kMostConsumers = 8;

using config::Mapping;
using config::Place;
using config::ReadValue;

ReadValue read_listen(ServeConfig& out) {
  return [&out](const Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(config::read_word(text, kLongestConfigText)(place));
    if (text == "none") {
      out.address.clear();
      return {};
    }
    const std::size_t colon = text.rfind(':');
    std::string address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) {
      address = address.substr(1, address.size() - 2);
    }
    const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
    boost::system::error_code error;
    (void)boost::asio::ip::make_address(address, error);
    const auto [end, bad] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error || bad != std::errc{} || end != port.data() + port.size()) {
      return place.must_be(
          fmt::format("an address and a port, not `{}`; write \"127.0.0.1:8765\"", text));
    }
    out.address = address;
    return {};
  };
}

ReadValue read_policy(std::string& out, const std::filesystem::path& folder) {
  return [&out, folder](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestConfigText)(place));
    // A value that looks like a file is relative to this file. A plain word is a shipped policy.
    if (out.find_first_of("/.") != std::string::npos) out = (folder / out).string();
    return {};
  };
}

json::object digest_schema() {
  return {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}};
}

ReadValue read_digest(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestConfigText)(place));
    const auto bytes = from_hex(out);
    if (bytes && bytes->size() == 32) return {};
    return place.must_be(
        "a SHA-256, 64 hexadecimal digits in lower case; `printf %s TOKEN | sha256sum` shows it");
  };
}

Mapping agent_keys(ServeConfig::Agent& out, const std::filesystem::path&) {
  Mapping keys("an agent");
  keys.required("name", "name of the agent in records", name_schema(), read_name(out.name))
      .required("token_sha256", "SHA-256 of its bearer token, hexadecimal", digest_schema(),
                read_digest(out.token_sha256));
  return keys;
}

ReadValue read_into(std::optional<std::string>& out) {
  return [&out](const Place& place) -> Result<void> {
    return config::read_text(out.emplace(), kLongestConfigText)(place);
  };
}

// The default is the login that `sallyport mcp login` stored for the server.
Mapping login_keys(OAuthOptions& out, const std::filesystem::path& folder) {
  const json::object text = config::text_schema(kLongestConfigText);
  Mapping keys("the login to a tool server");
  keys.optional("client_id",
                "id of a client that was registered by hand, or the URL of its description", text,
                read_into(out.client_id))
      .optional("client_secret_env", "environment variable that holds the client's secret", text,
                read_into(out.client_secret_env))
      .optional("client_secret_file", "file that holds the client's secret, with mode 0600", text,
                read_file_name(out.client_secret_file, folder))
      .optional("client_key_file",
                "file that holds the client's private key in PEM, with mode 0600", text,
                read_file_name(out.client_key_file, folder))
      .optional(
          "grant", "who logs in: a person, or the client itself [authorization_code]",
          config::choice_schema({"authorization_code", "client_credentials"}),
          config::read_choice({"authorization_code", "client_credentials"},
                              [&out](std::size_t choice) { out.client_credentials = choice == 1; }))
      .optional("issuer", "authorization server of the client", text, read_into(out.issuer))
      .optional("scope", "scopes to request [those that the server names]", text,
                read_into(out.scope));
  return keys;
}

Mapping upstream_keys(ServeConfig::ToolServer& out, const std::filesystem::path& folder) {
  Mapping keys("a tool server");
  keys.required("name", "name of the server in records", name_schema(), read_name(out.name))
      .optional("command", "command that starts the server, as a list of words",
                config::list_schema(config::word_schema(kLongestConfigText), kMostCommandWords),
                [&out](const Place& place) -> Result<void> {
                  std::string word;
                  const ReadValue read = [&](const Place& item) -> Result<void> {
                    SALLYPORT_CHECK_OK(config::read_word(word, kLongestConfigText)(item));
                    out.command.push_back(word);
                    return {};
                  };
                  SALLYPORT_CHECK_OK(config::read_list(kMostCommandWords, read)(place));
                  if (!out.command.empty()) return {};
                  return place.must_be("a command, as a list of words");
                })
      .optional("url", "URL of the server, instead of a command",
                config::text_schema(kLongestConfigText), read_url(out.url))
      .optional("bearer_env", "environment variable that holds the bearer token for the server",
                config::text_schema(kLongestConfigName),
                config::read_text(out.bearer_env, kLongestConfigName))
      .optional("auth", "the login, if the server asks for one",
                login_keys(out.oauth, folder).schema(),
                [&out, folder](const Place& place) -> Result<void> {
                  return login_keys(out.oauth, folder).read(place);
                })
      .optional("allow_http", "allow a connection to another machine without encryption [false]",
                config::truth_schema(), config::read_truth(out.allow_http))
      .optional("run_as", "account that runs the command [`serve.run_as`]", name_schema(),
                read_name(out.run_as))
      .optional("era", "protocol era of the server [auto]",
                config::choice_schema({"auto", "legacy", "modern"}),
                config::read_choice({"auto", "legacy", "modern"}, [&out](std::size_t choice) {
                  constexpr const char* kEras[] = {"auto", "legacy", "modern"};
                  out.era = kEras[choice];
                }));
  return keys;
}

// The conflict between two entries of a list; empty: none.
std::string clash(const ServeConfig::Agent& one, const ServeConfig::Agent& other) {
  if (one.name == other.name) return fmt::format("duplicate name `{}`", one.name);
  if (one.token_sha256 != other.token_sha256) return {};
  return fmt::format("`{}` and `{}` have the same token; give each agent its own", other.name,
                     one.name);
}

std::string clash(const EventsConfig& one, const EventsConfig& other) {
  return one.name == other.name ? fmt::format("duplicate name `{}`", one.name) : std::string();
}

std::string clash(const ServeConfig::ToolServer& one, const ServeConfig::ToolServer& other) {
  if (one.name == other.name) return fmt::format("duplicate name `{}`", one.name);
  const auto& [shorter, longer] = std::minmax(one.name, other.name);
  if (!longer.starts_with(shorter + '.')) return {};
  return fmt::format(
      "`{}` and `{}`: a tool of one could be called like a tool of the other; name one of them "
      "differently",
      shorter, longer);
}

// A list of sections of their own, whose names differ.
template <class Entry>
ReadValue read_entries(std::vector<Entry>& out, std::size_t most,
                       Mapping (*keys)(Entry&, const std::filesystem::path&),
                       const std::filesystem::path& folder) {
  return config::read_list(most, [&out, keys, folder](const Place& place) -> Result<void> {
    Entry entry;
    SALLYPORT_CHECK_OK(keys(entry, folder).read(place));
    for (const Entry& other : out) {
      if (const std::string why = clash(entry, other); !why.empty()) return place.refuse(why);
    }
    out.push_back(std::move(entry));
    return {};
  });
}

ReadValue read_texts(std::vector<std::string>& out) {
  return config::read_list(kMostNames, [&out](const Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(config::read_text(text, kLongestConfigText)(place));
    out.push_back(lower_case(text));
    return {};
  });
}

Mapping tls_keys(ServeConfig::TlsFiles& out, const std::filesystem::path& folder) {
  const json::object text = config::text_schema(kLongestConfigText);
  Mapping keys("TLS of the server");
  keys.required("cert_file",
                "the server's certificate in PEM, followed by those that lead to a root", text,
                read_file_name(out.certificate, folder))
      .required("key_file", "private key of the certificate in PEM, with mode 0600", text,
                read_file_name(out.key, folder));
  return keys;
}

ReadValue read_tls(ServeConfig& out, const std::filesystem::path& folder) {
  return [&out, folder](const Place& place) -> Result<void> {
    if (place.node.kind == config::YamlNode::Kind::Scalar) {
      out.tls_is_off = place.node.text == "off";
      if (out.tls_is_off) return {};
      return place.refuse("write `{cert_file: FILE, key_file: FILE}` here, or `off`");
    }
    ServeConfig::TlsFiles files;
    SALLYPORT_CHECK_OK(tls_keys(files, folder).read(place));
    out.tls = net::ServerTls::Files{*files.certificate, *files.key};
    return {};
  };
}

Mapping telemetry_keys(TelemetryConfig& out) {
  const json::object text = config::text_schema(kLongestConfigText);
  Mapping keys("the export to an OpenTelemetry collector");
  keys.required("otlp", "address of the collector, for OTLP over HTTP", text, read_url(out.otlp))
      .optional("service_name", "name of this server at the collector [sallyport]",
                config::text_schema(kLongestConfigName),
                config::read_text(out.service_name, kLongestConfigName))
      .optional("allow_http", "allow a connection to another machine without encryption [false]",
                config::truth_schema(), config::read_truth(out.allow_http));
  return keys;
}

ReadValue read_idle(ServeConfig& out) {
  return [&out](const Place& place) -> Result<void> {
    const auto idle = parse_duration(place.node.text);
    if (!idle || idle->count() == 0) {
      return place.refuse(no_duration(place.node.text, "30m or 12h"));
    }
    out.idle = *idle;
    return {};
  };
}

// Address, policy and authentication.
void add_door_keys(Mapping& keys, ServeConfig& out, const std::filesystem::path& folder) {
  ServeConfig::Agent agent;
  AuthorizationConfig issuers;
  ServeConfig::TlsFiles files;
  keys.optional("listen", "address and port, or `none` together with `socket_dir` [127.0.0.1:8765]",
                config::text_schema(kLongestConfigText), read_listen(out))
      .optional("tls",
                "certificate and key; `off` lets other machines connect without encryption [plain "
                "HTTP]",
                json::object{{"anyOf", json::array{config::choice_schema({"off"}),
                                                   tls_keys(files, folder).schema()}}},
                read_tls(out, folder))
      .optional("public_url", "URL under which agents and people reach this server through a proxy",
                config::text_schema(kLongestConfigText), read_url(out.public_url))
      .optional("policy", "policy file, or the name of a shipped policy [starter]",
                config::text_schema(kLongestConfigText), read_policy(out.policy, folder))
      .optional("auth", "whether agents need a token [tokens]",
                config::choice_schema({"tokens", "none"}),
                config::read_choice({"tokens", "none"},
                                    [&out](std::size_t choice) { out.needs_token = choice == 0; }))
      .optional("agents", "the agents that may connect, and the digest of each token",
                config::list_schema(agent_keys(agent, folder).schema(), kMostAgents),
                read_entries(out.agents, kMostAgents, agent_keys, folder))
      .optional("authorization", "authorization servers whose access tokens agents may also use",
                authorization_keys(issuers, folder).schema(),
                [&out, folder](const Place& place) -> Result<void> {
                  return read_authorization(out.authorization.emplace(), folder, place);
                });
}

// Services for clients, and destinations of spans and entries.
void add_service_keys(Mapping& keys, ServeConfig& out, const std::filesystem::path& folder) {
  ServeConfig::ToolServer upstream;
  TelemetryConfig telemetry;
  EventsConfig consumer;
  ConsoleConfig console;
  proxy::Settings any_models;
  keys.optional("upstreams", "the tool servers behind the gate [none: only hooks connect]",
                config::list_schema(upstream_keys(upstream, folder).schema(), kMostUpstreams),
                read_entries(out.upstreams, kMostUpstreams, upstream_keys, folder))
      .optional("models", "providers of models that agents reach through this server [none]",
                models_keys(any_models, folder).schema(),
                [&out, folder](const Place& place) -> Result<void> {
                  return models_keys(out.models.emplace(), folder).read(place);
                })
      .optional("console", "the web console", console_keys(console).schema(),
                [&out](const Place& place) -> Result<void> {
                  return console_keys(out.console.emplace()).read(place);
                })
      .optional("metrics_token_sha256", "SHA-256 of the token that opens /metrics, hexadecimal",
                digest_schema(), read_digest(out.metrics_sha256))
      .optional("telemetry", "export of OpenTelemetry spans [as the OTEL_ variables say]",
                telemetry_keys(telemetry).schema(),
                [&out](const Place& place) -> Result<void> {
                  return telemetry_keys(out.telemetry.emplace()).read(place);
                })
      .optional("events", "consumers that receive every entry of the log as it is written [none]",
                config::list_schema(events_keys(consumer, folder).schema(), kMostConsumers),
                read_entries(out.events, kMostConsumers, events_keys, folder));
}

Result<void> check_tool_server(const ServeConfig::ToolServer& upstream, const ServeConfig& config,
                               const Place& place) {
  if (upstream.command.empty() == upstream.url.empty()) {
    return place.refuse(
        fmt::format("`{}` needs a `command` or a `url`, one of them alone", upstream.name));
  }
  if (upstream.oauth != OAuthOptions{} && (upstream.url.empty() || !upstream.bearer_env.empty())) {
    return place.refuse(
        fmt::format("`auth` of `{}` is for a `url` without `bearer_env`", upstream.name));
  }
  if (upstream.url.empty() && (!upstream.bearer_env.empty() || upstream.allow_http)) {
    return place.refuse(
        fmt::format("`bearer_env` and `allow_http` of `{}` are for a `url`", upstream.name));
  }
  if (!upstream.run_as.empty() && upstream.command.empty()) {
    return place.refuse(fmt::format("`run_as` of `{}` is for a `command`", upstream.name));
  }
  const bool named = !upstream.run_as.empty() || !config.run_as.empty();
  if (config.is_system_service() && !upstream.command.empty() && !named) {
    return place.refuse(fmt::format(
        "`run_as` must say which account `{}` runs as: a tool server never runs as the service",
        upstream.name));
  }
  return {};
}

// Remote clients need a token, a known host name, and encryption.
Result<void> check_reach(const ServeConfig& config, const Place& place) {
  if (!config.has_http() && !config.is_system_service()) {
    return place.refuse("`listen: none` is for a service with a `socket_dir`");
  }
  if (config.is_system_service() && config.has_http() && !config.needs_token) {
    return place.refuse(
        "`auth: none` lets every user of this machine be the same agent; beside `socket_dir` those "
        "who come over HTTP need tokens");
  }
  if (!config.needs_token && (!config.agents.empty() || config.authorization)) {
    return place.refuse(fmt::format("`auth: none` and `{}` exclude each other",
                                    config.authorization ? "authorization" : "agents"));
  }
  if (!config.needs_token && !config.is_local()) {
    return place.refuse(fmt::format(
        "`auth: none` is for this machine alone, and {} is reached from others", config.address));
  }
  if (!config.needs_token && !config.only_here()) {
    return place.refuse(
        "`auth: none` is for this machine alone, and `allowed_hosts` lets others come here through "
        "a proxy");
  }
  if (!config.is_local() && config.agents.empty() && !config.authorization &&
      !config.is_for_hooks_alone()) {
    return place.refuse(
        "agents connect from other machines here; list them under `agents`, or set "
        "`authorization`");
  }
  if (!config.is_local() && config.hosts.empty()) {
    return place.refuse("`allowed_hosts` must say which host names this server has");
  }
  if (!config.has_http() && config.tls) {
    return place.refuse("`tls` is for a server that listens, and `listen: none` does not");
  }
  if (!config.is_local() && !config.tls && !config.tls_is_off) {
    return place.refuse(fmt::format(
        "{} is reached from other machines, and tokens would go there in the clear; name "
        "`tls: {{cert_file, key_file}}`, or write `tls: off` where something else encrypts",
        config.address));
  }
  if (!config.public_url.empty()) {
    const net::Url url = *net::Url::parse(config.public_url);
    if (std::ranges::find(config.hosts, url.host) == config.hosts.end() &&
        std::ranges::find(config.hosts, url.authority()) == config.hosts.end()) {
      return place.refuse(fmt::format(
          "`public_url` names `{}`, which is missing in `allowed_hosts`", url.authority()));
    }
  }
  return {};
}

}  // namespace

bool ServeConfig::is_local() const {
  if (!has_http()) return true;
  boost::system::error_code error;
  const auto ip = boost::asio::ip::make_address(address, error);
  return !error && ip.is_loopback();
}

// A proxy connects from this machine, with the host name that remote clients use.
bool ServeConfig::only_here() const {
  return is_local() && hosts.empty();
}

Mapping serve_keys(ServeConfig& out, const std::filesystem::path& folder) {
  const json::object names =
      config::list_schema(config::text_schema(kLongestConfigText), kMostNames);
  Mapping keys("the server");
  add_door_keys(keys, out, folder);
  add_service_keys(keys, out, folder);
  keys.optional("allowed_hosts",
                "names in `Host` that are accepted in addition to the address itself", names,
                read_texts(out.hosts))
      .optional("allowed_origins", "origins of web pages that may connect", names,
                read_texts(out.origins))
      .optional("socket_dir", "folder of the sockets for all users, under the system set-up",
                config::text_schema(kLongestConfigText), read_file_name(out.socket_dir, folder))
      .optional("run_as", "account that runs the commands of tool servers [that of this process]",
                name_schema(), read_name(out.run_as))
      .optional(
          "sessions", "maximum sessions that are open at once [64]",
          config::number_schema(1, 10'000),
          config::read_number(1, 10'000, [&out](std::uint64_t count) { out.sessions = count; }))
      .optional("idle", "time after which an unused session ends [30m]",
                json::object{{"type", "string"}, {"pattern", "^0*[1-9][0-9]*[smhdw]$"}},
                read_idle(out));
  return keys;
}

Result<void> read_serve(ServeConfig& out, const std::filesystem::path& folder, const Place& place) {
  SALLYPORT_CHECK_OK(serve_keys(out, folder).read(place));
  for (const ServeConfig::ToolServer& upstream : out.upstreams) {
    SALLYPORT_CHECK_OK(check_tool_server(upstream, out, place));
  }
  for (const EventsConfig& consumer : out.events) {
    SALLYPORT_CHECK_OK(check_events(consumer, place));
  }
  return check_reach(out, place);
}

}  // namespace sallyport::app
