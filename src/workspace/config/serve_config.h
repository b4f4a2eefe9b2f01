// The section `serve` of the configuration file.
//
//   serve:
//     listen: 127.0.0.1:8765
//     tls: {cert_file: gate.crt, key_file: gate.key}
//     public_url: https://gate.example.com
//     policy: strict                       # a file, or a shipped one; default: starter
//     auth: tokens                         # or `none`, on this machine only
//     agents:
//       - name: ci
//         token_sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//     authorization: {issuers: [{name: corp, issuer: "https://login.example.com"}]}
//     upstreams:                           # none: for hooks of coding agents alone
//       - {name: files, command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/notes]}
//       - {name: tickets, url: "https://tickets.example.com/mcp", bearer_env: TICKETS_TOKEN}
//       - {name: wiki, url: "https://wiki.example.com/mcp", auth: {client_id: sallyport, ...}}
//     models: {upstreams: [{name: claude, api: anthropic_messages, ...}]}   # models_config.h
//     console: {enabled: true}                                              # console_config.h
//     telemetry: {otlp: "http://127.0.0.1:4318"}
//     events: [{name: bus, jetstream: {...}}]   # workspace/config/events_config.h
//     allowed_hosts: [gate.example.com]
//     allowed_origins: ["https://console.example.com"]
//     sessions: 64
//     idle: 30m
//     socket_dir: /run/sallyport           # the service of the system set-up, for all users
//     run_as: sallyport-tools              # the account of tool servers that a command starts
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/mapping.h"
#include "net/server_tls.h"
#include "servers/oauth_options.h"
#include "workspace/config/authorization_config.h"
#include "workspace/config/console_config.h"
#include "workspace/config/events_config.h"
#include "workspace/config/models_config.h"

namespace sallyport::app {

// The collector of spans.
struct TelemetryConfig {
  std::string otlp{};          // address of a collector
  std::string service_name{};  // empty: from the environment, else `sallyport`
  bool allow_http = false;
};

struct ServeConfig {
  struct Agent {
    std::string name{};
    std::string token_sha256{};  // hexadecimal
  };
  struct ToolServer {
    std::string name{};
    std::vector<std::string> command{};  // that starts it, or
    std::string url{};                   // where it is reached
    std::string bearer_env{};            // the variable that holds our token for it
    bool allow_http = false;             // without encryption, to other machines too
    OAuthOptions oauth{};                // our client if the server requires a login
    std::string era = "auto";
    std::string run_as{};  // account of its command; empty: the default below
  };

  struct TlsFiles {
    std::optional<std::filesystem::path> certificate{};
    std::optional<std::filesystem::path> key{};
  };

  std::string address = "127.0.0.1";
  std::uint16_t port = 8765;
  std::optional<net::ServerTls::Files> tls{};  // no value: plain HTTP
  bool tls_is_off = false;                     // explicitly: plain HTTP for remote clients too
  std::string public_url{};  // the address behind a proxy; empty: the listening address
  std::string policy = "starter";
  bool needs_token = true;
  std::vector<Agent> agents{};
  std::optional<AuthorizationConfig> authorization{};
  std::string metrics_sha256{};  // of the token for /metrics; empty: no token is required
  std::optional<TelemetryConfig> telemetry{};  // no value: as the environment says
  std::vector<EventsConfig> events{};          // consumers of all new entries
  std::vector<ToolServer> upstreams{};
  std::optional<proxy::Settings> models{};  // providers of models; none: no model proxy
  std::optional<ConsoleConfig> console{};   // no value: served with the defaults
  std::vector<std::string> hosts{};
  std::vector<std::string> origins{};
  // The folder of the sockets for all users of this machine. No value: this is not the service of
  // the system set-up.
  std::optional<std::filesystem::path> socket_dir{};
  std::string run_as{};  // default account of commands; empty: the account of this process
  std::uint64_t sessions = 64;
  std::chrono::seconds idle{1800};

  bool is_system_service() const { return socket_dir.has_value(); }
  bool has_http() const { return !address.empty(); }
  bool is_local() const;   // only programs of this machine can connect
  bool only_here() const;  // and no proxy forwards remote clients
  std::string_view scheme() const { return tls ? "https://" : "http://"; }
  bool has_tools() const { return !upstreams.empty(); }
  bool is_for_hooks_alone() const { return upstreams.empty() && !models; }
};

// Relative paths of policies are relative to `folder`.
config::Mapping serve_keys(ServeConfig& out, const std::filesystem::path& folder);
Result<void> read_serve(ServeConfig& out, const std::filesystem::path& folder,
                        const config::Place& place);

}  // namespace sallyport::app
