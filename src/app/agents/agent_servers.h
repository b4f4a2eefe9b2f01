// The tools of an agent: its own ones, and those of the tool servers that its configuration names.
// A tool of a server is offered as `<server>__<tool>`; policies and records know it under the names
// of the server and the tool, as at a gateway.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/tool/tools.h"
#include "app/agents/tool_server.h"
#include "servers/mcp_upstream.h"

namespace sallyport::app {

// Returns a name that every model API accepts: at most 64 of `A-Z a-z 0-9 _ -`. A name that does
// not fit is cut, its other characters become `_`, and a digest keeps it unique.
std::string offered_name(std::string_view server, std::string_view tool);

class ServerTools final : public agent::Toolbox {
 public:
  struct Parts {
    boost::asio::any_io_executor executor;
    mcp::PinBook& pins;
    LoginMeans login;
    std::function<void(std::string_view line)> log;
    mcp::Limits limits{.opening = std::chrono::milliseconds(60'000)};
  };
  // Starts all servers at once. An error: one of them is not available; the others are stopped.
  static Task<std::unique_ptr<ServerTools>> open(std::unique_ptr<agent::Toolbox> own,
                                                 std::vector<agent::ServerSettings> servers,
                                                 Parts parts);

  std::vector<std::string> roots() const override { return own_->roots(); }
  std::vector<agent::OfferedTool> offered() const override;
  Target target(std::string_view name) const override;
  std::shared_ptr<core::Upstream> find(std::string_view name) const override;
  // Only our own tools: a server's description of a tool does not justify a second run.
  bool replay_safe(std::string_view name) const override { return own_->replay_safe(name); }
  Async<void> stop() override;

 private:
  struct Entry {
    std::shared_ptr<ToolServer> server;  // shared with calls that it still works on
    agent::OfferedTool offered;
    std::string tool;
  };
  explicit ServerTools(std::unique_ptr<agent::Toolbox> own) : own_(std::move(own)) {}
  void offer_tools_of(const std::shared_ptr<ToolServer>& server,
                      const std::function<void(std::string_view)>& log);

  std::unique_ptr<agent::Toolbox> own_;
  std::vector<std::shared_ptr<ToolServer>> servers_;  // shared with calls, as above
  std::map<std::string, Entry, std::less<>> tools_;   // by the name that is offered
};

}  // namespace sallyport::app
