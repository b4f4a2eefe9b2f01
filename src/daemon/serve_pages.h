// The HTTP pages of `sallyport serve` beside its tools: health, how to get a token, metrics,
// approvals and records.
#pragma once

#include <memory>
#include <string>

#include "api/http_api.h"
#include "app/gate.h"
#include "console/console_pages.h"
#include "daemon/api/agents_api.h"
#include "daemon/api/approvals_api.h"
#include "daemon/api/backtest_desk.h"
#include "daemon/api/backtests_api.h"
#include "daemon/api/explain_api.h"
#include "daemon/api/grants_api.h"
#include "daemon/api/log_size.h"
#include "daemon/api/passkey_desk.h"
#include "daemon/api/passkeys_api.h"
#include "daemon/api/pins_api.h"
#include "daemon/api/policies_api.h"
#include "daemon/api/records_api.h"
#include "daemon/api/session_api.h"
#include "daemon/api/stream_api.h"
#include "daemon/door/model_door.h"
#include "daemon/login/api_people.h"
#include "daemon/login/login_links.h"
#include "daemon/login/oidc_login.h"
#include "daemon/metrics_page.h"
#include "net/http_server.h"
#include "policy/reviewer_file.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

// Used on the loop of the gate.
class ServePages {
 public:
  struct Parts {
    const Context& context;
    const ServeConfig& config;
    Gate& gate;
    std::string resource;               // the address of the tools for agents (RFC 9728)
    const ModelDoor* models = nullptr;  // null: no model proxy
    std::string console{};              // address of the console
    std::string oidc_secret{};          // our client secret at the provider
  };
  explicit ServePages(Parts parts);

  // Registers the pages. `tools` serves `/mcp` if there are tool servers.
  void route(net::HttpServer& server, net::HttpHandler& tools);

  // For the console door, where the command line gets links.
  ApiPeople& people() { return people_; }
  LoginLinks& links() { return links_; }
  PasskeyDesk& passkeys() { return passkeys_; }

  // From now on `/readyz` fails, and streams end.
  void stop() { stopping_ = true; }

 private:
  net::ServerResponse readiness() const;
  json::object resource_description() const;

  Parts parts_;
  ApiPeople people_;
  bool stopping_ = false;
  MetricsPage metrics_;
  OpenedContent opened_;
  LogSize log_size_;
  LoginLinks links_;
  PasskeyDesk passkeys_;
  SessionApi session_;
  PasskeysApi passkeys_api_;
  std::optional<OidcLogin> oidc_;
  ApprovalsApi approvals_;
  RecordsApi records_;
  StreamApi stream_;
  AgentsApi agents_;
  PinsApi pins_;
  GrantsApi grants_;
  ExplainApi explain_;
  PolicyDesk desk_;
  PoliciesApi policies_;
  BacktestDesk backtests_;
  BacktestsApi backtests_api_;
  api::HttpApi api_;  // its readers end before what they read
  console::ConsolePages console_;
  std::unique_ptr<net::HttpHandler> health_;
  std::unique_ptr<net::HttpHandler> ready_;
  std::unique_ptr<net::HttpHandler> metadata_;
  std::unique_ptr<net::HttpHandler> no_tools_;
};

}  // namespace sallyport::app
