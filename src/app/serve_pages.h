// What `sallyport serve` shows beside its tools: whether it is well, how to get a token, what was
// counted, and the approvals.
#pragma once

#include <memory>
#include <string>

#include "app/approvals_api.h"
#include "app/gate.h"
#include "app/metrics_page.h"
#include "app/model_door.h"
#include "app/serve_config.h"
#include "net/http_server.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

// On the loop of the gate.
class ServePages {
 public:
  struct Parts {
    const Context& context;
    const ServeConfig& config;
    Gate& gate;
    std::string resource;               // where the tools are, as agents know it (RFC 9728)
    const ModelDoor* models = nullptr;  // null: no model proxy
  };
  explicit ServePages(Parts parts);

  // `tools` answer at `/mcp`, where there are any.
  void route(net::HttpServer& server, net::HttpHandler& tools);

  // From now on it is not ready, and streams end.
  void stop() { stopping_ = true; }

 private:
  net::ServerResponse readiness() const;
  json::object resource_description() const;
  Result<policy::ReviewerFile::List> people_who_answer();

  Parts parts_;
  std::optional<policy::ReviewerFile> of_policy_;
  policy::ReviewerFile of_folder_;
  bool stopping_ = false;
  MetricsPage metrics_;
  ApprovalsApi approvals_;
  std::unique_ptr<net::HttpHandler> health_;
  std::unique_ptr<net::HttpHandler> ready_;
  std::unique_ptr<net::HttpHandler> metadata_;
  std::unique_ptr<net::HttpHandler> no_tools_;
};

}  // namespace sallyport::app
