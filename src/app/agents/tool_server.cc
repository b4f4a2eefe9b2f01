#include "app/agents/tool_server.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/call/forwarded_call.h"
#include "mcp/message/methods.h"
#include "mcp/message/translation.h"
#include "mcp/server/inbox.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestName = 512;
constexpr std::chrono::milliseconds kEnding{5'000};
constexpr const char* kOpened = "opened";

// We support no requests of servers.
constexpr std::string_view kWeAre = R"({"name":"sallyport","version":"0"})";

std::string opening() {
  return fmt::format(R"({{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{}}})",
                     mcp::kLegacyVersion, kWeAre);
}

bool is_usable(const mcp::ToolDefinition& tool) {
  return !tool.name.empty() && tool.name.size() <= kLongestName &&
         tool.name != mcp::kInstructionsPin && !mcp::is_request_name(tool.name);
}

}  // namespace

ToolServer::ToolServer(boost::asio::any_io_executor executor, mcp::PinBook& pins, Settings settings)
    : executor_(std::move(executor)),
      pins_(pins),
      settings_(std::move(settings)),
      server_(settings_.make({.executor = executor_,
                              .limits = settings_.limits,
                              .listener = *this,
                              .log = settings_.log,
                              .server_log = settings_.log})),
      tasks_(executor_, settings_.log) {}

Task<void> ToolServer::open() {
  tasks_.start(keep_running());
  Result<void> opened = co_await wait_ready();
  if (opened) opened = co_await list_tools();
  if (opened) co_return opened;
  co_await stop();
  co_return fail(ErrorCode::Unavailable,
                 fmt::format("tool server `{}`: {}", settings_.name, opened.error().message),
                 "agent.servers");
}

Async<void> ToolServer::stop() {
  stopped_ = true;
  co_await server_->stop();
  bell_.ring(kOpened);
  if (co_await tasks_.join(kEnding / 2)) co_return;
  tasks_.cancel();
  (void)co_await tasks_.join(kEnding / 2);
}

Async<void> ToolServer::keep_running() {
  const Result<void> ran = co_await server_->run();
  opened_ = false;
  gone_ = ran ? Error{ErrorCode::Unavailable, "the server was stopped", {}, {}} : ran.error();
  bell_.ring(kOpened);
}

void ToolServer::server_started(bool) {
  opened_ = false;
  tasks_.start(open_again());
}

void ToolServer::server_ended(const std::string&) {
  opened_ = false;
}

Async<void> ToolServer::open_again() {
  const Result<void> opened = co_await open_session();
  if (!opened && !stopped_) {
    settings_.log(
        fmt::format("tool server `{}` does not open: {}", settings_.name, opened.error().message));
  }
}

// Most servers have sessions, so that is tried first.
Task<void> ToolServer::open_session() {
  const Result<mcp::Message> answer =
      co_await server_->ask("initialize", opening(), settings_.limits.opening);
  if (answer && !answer->is_error()) {
    era_ = mcp::Era::Legacy;
    server_->send(mcp::notification_text("notifications/initialized", {}));
  } else {
    SALLYPORT_CO_TRY(const mcp::Message response,
                     co_await server_->ask("server/discover",
                                           mcp::modern_params("{}", {.capabilities = "{}",
                                                                     .info = std::string(kWeAre)}),
                                           settings_.limits.probe));
    if (response.is_error()) {
      co_return fail(ErrorCode::Unavailable, "it refuses `initialize` and `server/discover`");
    }
    era_ = mcp::Era::Modern;
  }
  opened_ = true;
  server_->ready();
  bell_.ring(kOpened);
  co_return Result<void>{};
}

Task<void> ToolServer::wait_ready() {
  constexpr std::chrono::milliseconds kLook{200};
  const auto end = std::chrono::steady_clock::now() + settings_.limits.opening;
  while (!opened_) {
    if (gone_) co_return std::unexpected(*gone_);
    if (stopped_) co_return fail(ErrorCode::Cancelled, "the server was stopped");
    if (std::chrono::steady_clock::now() >= end) {
      co_return fail(ErrorCode::Deadline, "the server does not open in time");
    }
    co_await bell_.wait(kOpened, kLook, {});
  }
  co_return Result<void>{};
}

std::string ToolServer::params_for(std::string params, mcp::Words /*words*/) const {
  if (era_ != mcp::Era::Modern) return params;
  return mcp::modern_params(params, {.capabilities = "{}", .info = std::string(kWeAre)});
}

Task<void> ToolServer::list_tools() {
  std::vector<mcp::ToolDefinition> all;
  std::string params = "{}";
  for (std::size_t page = 0; page < settings_.limits.pages; ++page) {
    SALLYPORT_CO_TRY(const mcp::Message answer,
                     co_await server_->ask("tools/list", params_for(params, mcp::Words::Own),
                                           settings_.limits.start));
    const json::object* const result = object_in(answer.object(), "result");
    if (result == nullptr) co_return fail(ErrorCode::Unavailable, "it does not list its tools");
    for (mcp::ToolDefinition& tool : mcp::definitions_in(*result)) {
      if (is_usable(tool)) all.push_back(std::move(tool));
    }
    if (all.size() > settings_.limits.tools) {
      co_return fail(ErrorCode::Exhausted, "it lists too many tools");
    }
    const auto cursor = text_in(*result, "nextCursor");
    if (!cursor) break;
    params = json::serialize(json::object{{"cursor", *cursor}});
  }
  for (const std::string& name : mcp::take_duplicates(all)) {
    settings_.log(fmt::format("tool server `{}` lists two tools called `{}`; neither is offered",
                              settings_.name, name));
  }
  SALLYPORT_CO_TRY(const mcp::HeldBack held, co_await pins_.look(settings_.name, all));
  tools_.clear();
  for (mcp::ToolDefinition& tool : all) {
    if (held.beyond.contains(tool.name)) continue;
    if (held.changed.contains(tool.name)) {
      settings_.log(fmt::format(
          "`{}` of tool server `{}` has changed its definition and is held back; look at it with "
          "`{}`, and accept it with `{}`",
          tool.name, settings_.name, mcp::pins_command("diff", settings_.name, tool.name),
          mcp::pins_command("accept", settings_.name, tool.name)));
      continue;
    }
    tools_[tool.name] = std::move(tool);
  }
  co_return Result<void>{};
}

// Offered tools stay offered. A changed or removed tool is refused when it is called.
Async<void> ToolServer::list_again() {
  const Result<void> listed = co_await list_tools();
  listing_ = false;
  if (!listed) {
    settings_.log(fmt::format("the tools of `{}` cannot be listed: {}", settings_.name,
                              listed.error().message));
  }
}

const mcp::ToolDefinition* ToolServer::tool(const std::string& name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second;
}

core::UpstreamFacts ToolServer::facts(const std::string& name) const {
  return {.command = settings_.command,
          .read_only_hint = tool(name) ? tool(name)->read_only : std::nullopt,
          .definition_changed = pins_.held(settings_.name, name),
          .remote_files = settings_.command.empty()};
}

std::shared_ptr<core::Upstream> ToolServer::call_of(const std::string& tool) {
  if (!tools_.contains(tool)) return nullptr;
  const json::object params{{"name", tool}, {"arguments", json::object()}};
  Result<mcp::Message> request = mcp::Message::read(
      mcp::request_text("0", "tools/call", json::serialize(params)), settings_.limits.json());
  if (!request) return nullptr;
  // The arguments are those of the call that the Governor lets through.
  mcp::CallParams asked{.tool = tool, .input = json::object()};
  return std::make_shared<mcp::ForwardedCall>(
      mcp::ForwardedCall::Parts{
          .server = *this, .words = mcp::Words::Own, .keep = shared_from_this()},
      std::move(*request), std::move(asked),
      std::make_shared<mcp::Inbox>(executor_, settings_.limits.progress));
}

Async<void> ToolServer::on_server_request(mcp::Message request) {
  const bool ping = request.method == "ping";
  server_->send(ping ? mcp::result_text(request.id, "{}")
                     : mcp::error_text(request.id, mcp::kMethodNotFound, "Method not found"));
  co_return;
}

Async<void> ToolServer::on_server_notification(mcp::Message notification) {
  if (notification.method != "notifications/tools/list_changed" || !opened_) co_return;
  if (std::exchange(listing_, true)) co_return;
  tasks_.start(list_again());
}

}  // namespace sallyport::app
