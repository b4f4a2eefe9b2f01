#include "app/agents/agent_servers.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/together.h"
#include "base/try.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestOffered = 64;
constexpr std::size_t kDigestLetters = 8;
constexpr std::size_t kLongestDescription = 4096;
constexpr std::size_t kMostOffered = 256;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

agent::OfferedTool offered_as(std::string name, const std::string& server,
                              const mcp::ToolDefinition& tool) {
  agent::OfferedTool offered{.name = std::move(name), .server = server};
  offered.description =
      cut_utf8_bytes(text_or_empty(tool.pinned, "description"), kLongestDescription);
  if (const json::object* const schema = object_in(tool.pinned, "inputSchema")) {
    offered.schema = *schema;
  }
  // Model APIs require these members.
  offered.schema["type"] = "object";
  if (!offered.schema.contains("properties")) offered.schema["properties"] = json::object();
  return offered;
}

}  // namespace

std::string offered_name(std::string_view server, std::string_view tool) {
  std::string name = fmt::format("{}__{}", server, tool);
  if (name.size() <= kLongestOffered && std::ranges::all_of(name, is_plain)) return name;
  const std::string digest = hex(sha256({server, std::string_view("\0", 1), tool}));
  std::ranges::replace_if(name, std::not_fn(is_plain), '_');
  name.resize(std::min(name.size(), kLongestOffered - kDigestLetters - 1));
  return fmt::format("{}_{}", name, digest.substr(0, kDigestLetters));
}

Task<std::unique_ptr<ServerTools>> ServerTools::open(std::unique_ptr<agent::Toolbox> own,
                                                     std::vector<agent::ServerSettings> servers,
                                                     Parts parts) {
  std::unique_ptr<ServerTools> tools(new ServerTools(std::move(own)));
  for (const agent::ServerSettings& named : servers) {
    McpOptions options{.name = named.name, .command = named.command};
    if (!named.url.empty()) options.url = named.url;
    SALLYPORT_CO_TRY(McpUpstream upstream, upstream_of(options, parts.login));
    tools->servers_.push_back(
        std::make_shared<ToolServer>(parts.executor, parts.pins,
                                     ToolServer::Settings{.name = named.name,
                                                          .make = std::move(upstream.make),
                                                          .command = named.command,
                                                          .limits = parts.limits,
                                                          .log = parts.log}));
  }
  unsetenv("SALLYPORT_GRANT");  // it belongs to the user who runs us; no server gets it (CG-10)
  std::vector<Task<void>> openings;
  for (const auto& server : tools->servers_) openings.push_back(server->open());
  std::optional<Error> failed;
  for (const Result<void>& opened : co_await together(std::move(openings))) {
    if (!opened && !failed) failed = opened.error();
  }
  for (const auto& server : tools->servers_) tools->offer_tools_of(server, parts.log);
  if (!failed) co_return std::move(tools);
  co_await tools->stop();
  co_return std::unexpected(*failed);
}

void ServerTools::offer_tools_of(const std::shared_ptr<ToolServer>& server,
                                 const std::function<void(std::string_view)>& log) {
  std::size_t left_out = 0;
  for (const auto& [name, tool] : server->tools()) {
    const std::string offered = offered_name(server->name(), name);
    if (tools_.size() >= kMostOffered || tools_.contains(offered)) {
      ++left_out;
      continue;
    }
    tools_[offered] = {server, offered_as(offered, server->name(), tool), name};
  }
  if (left_out == 0) return;
  log(fmt::format("{} tools of `{}` are not offered: an agent has at most {} of servers", left_out,
                  server->name(), kMostOffered));
}

std::vector<agent::OfferedTool> ServerTools::offered() const {
  std::vector<agent::OfferedTool> all = own_->offered();
  for (const auto& [name, entry] : tools_) all.push_back(entry.offered);
  return all;
}

agent::Toolbox::Target ServerTools::target(std::string_view name) const {
  const auto found = tools_.find(name);
  if (found == tools_.end()) return own_->target(name);
  return {found->second.server->name(), found->second.tool};
}

std::shared_ptr<core::Upstream> ServerTools::find(std::string_view name) const {
  const auto found = tools_.find(name);
  if (found == tools_.end()) return own_->find(name);
  return found->second.server->call_of(found->second.tool);
}

Async<void> ServerTools::stop() {
  co_await own_->stop();
  for (const std::shared_ptr<ToolServer>& server : servers_) co_await server->stop();
}

}  // namespace sallyport::app
