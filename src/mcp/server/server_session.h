// One tool server: starts or reaches it, opens it in its era, restarts it when it ends, and knows
// its tools and their pins. It knows no client, only the profile of one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcp/call/call_server.h"
#include "mcp/call/forwarded_call.h"
#include "mcp/gateway_meter.h"
#include "mcp/server/server_opening.h"
#include "mcp/server/server_tools.h"
#include "mcp/server/standing_requests.h"

namespace sallyport::mcp {

// Owned by a gateway. Used on a context with one thread.
class ServerSession final : public CallServer, private Server::Listener {
 public:
  struct Parts {
    const Clock& clock;
    const core::Redactor& redactor;
    PinBook& pins;
    MessageDoor& door;
    net::TaskGroup& tasks;
    const ClientProfile& client;  // for whom the server is opened
    ServerListener& listener;
    GatewayMeter* meter = nullptr;
  };
  struct Settings {
    std::string name;  // in records
    ServerMaker make;
    EraHint era{};
    bool offers_all = false;             // as `ServerOpening::Settings`
    std::vector<std::string> command{};  // starts the server; empty: it runs elsewhere
    Limits limits{};
    Server::Log log;
  };
  ServerSession(boost::asio::any_io_executor executor, Parts parts, Settings settings);

  // Keeps the server running until `stop`. An error: it was given up.
  Task<void> run();
  Async<void> stop() { return link_->stop(); }
  void expect_end() { ends_ = true; }  // the end of the server is no longer reported

  // Makes the upstream that the Governor invokes for a request.
  std::shared_ptr<ForwardedCall> upstream(ForwardedCall::Parts parts, Message request,
                                          CallParams call_params);
  // A request in the form of the server's era.
  std::string text_for(const Message& request) const;
  bool has(Era server, Era client) const;  // is the server of one era and its client of the other?

  ServerOpening& opening() { return opening_; }
  const ServerOpening& opening() const { return opening_; }
  ServerTools& tools() { return tools_; }
  const ServerTools& tools() const { return tools_; }
  StandingRequests& standing() { return standing_; }

  Server& link() override { return *link_; }
  Task<void> wait_ready() override { return opening_.wait_ready(settings_.limits.start); }
  std::string params_for(std::string params, Words words) const override;
  bool callable(const std::string& name) const override { return tools_.callable(name); }
  const ToolDefinition* tool(const std::string& name) const override { return tools_.find(name); }
  core::UpstreamFacts facts(const std::string& tool) const override;

 private:
  Async<void> on_server_request(Message request) override;
  Async<void> on_server_notification(Message notification) override;
  void server_started(bool again) override;
  void server_ended(const std::string& reason) override;

  boost::asio::any_io_executor executor_;
  Parts parts_;
  Settings settings_;
  std::unique_ptr<Server> link_;
  StandingRequests standing_;
  ServerTools tools_;
  ServerOpening opening_;
  bool ends_ = false;
};

}  // namespace sallyport::mcp
