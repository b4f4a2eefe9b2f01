// One tool server of our own agent. Starts or reaches it, opens it in its era, reads its tools, and
// opens it again if it ends. Only the Governor calls its tools.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bell.h"
#include "core/call/upstream.h"
#include "mcp/call/call_server.h"
#include "mcp/message/era.h"
#include "mcp/server/pins.h"
#include "mcp/server/server.h"
#include "net/task_group.h"

namespace sallyport::app {

// Used on a context with one thread. Shared with its calls, which may end after it was stopped.
class ToolServer final : public mcp::Server::Listener,
                         private mcp::CallServer,
                         public std::enable_shared_from_this<ToolServer> {
 public:
  struct Settings {
    std::string name;  // in policies and records
    mcp::ServerMaker make;
    std::vector<std::string> command{};  // that starts it; empty: it is elsewhere
    mcp::Limits limits{};
    mcp::Server::Log log;
  };
  ToolServer(boost::asio::any_io_executor executor, mcp::PinBook& pins, Settings settings);

  const std::string& name() const { return settings_.name; }

  // Starts it and reads its tools. An error names the server: it does not open, or lists too much.
  Task<void> open();
  // Calls fail from here on. At most 5 s.
  Async<void> stop();

  // The tools that may be offered: none whose definition has changed since it was accepted, and
  // none whose name occurs twice.
  const std::map<std::string, mcp::ToolDefinition>& tools() const { return tools_; }
  // One call of a tool. Null: there is no such tool.
  std::shared_ptr<core::Upstream> call_of(const std::string& tool);

 private:
  Async<void> keep_running();
  Async<void> open_again();
  Task<void> open_session();
  Task<void> list_tools();
  Async<void> list_again();

  mcp::Server& link() override { return *server_; }
  Task<void> wait_ready() override;
  std::string params_for(std::string params, mcp::Words words) const override;
  bool callable(const std::string& name) const override { return tool(name) != nullptr; }
  const mcp::ToolDefinition* tool(const std::string& name) const override;
  core::UpstreamFacts facts(const std::string& tool) const override;

  Async<void> on_server_request(mcp::Message request) override;
  Async<void> on_server_notification(mcp::Message notification) override;
  void server_started(bool again) override;
  void server_ended(const std::string& how) override;

  boost::asio::any_io_executor executor_;
  mcp::PinBook& pins_;
  Settings settings_;
  std::unique_ptr<mcp::Server> server_;
  net::TaskGroup tasks_;
  Bell bell_;
  mcp::Era era_ = mcp::Era::Unknown;
  bool opened_ = false;
  bool listing_ = false;
  bool stopped_ = false;
  std::optional<Error> gone_;  // it is not started again
  std::map<std::string, mcp::ToolDefinition> tools_;
};

}  // namespace sallyport::app
