// The queue of what a person should look at: escalations, until somebody accepts or dismisses them.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "app/commands.h"
#include "app/entry_text.h"
#include "app/output.h"
#include "base/try.h"
#include "core/escalations.h"
#include "ledger/store_reader.h"

namespace sallyport::app {

namespace {

json::object to_json(const EscalationItem& item) {
  return {{"kind", "escalation"},          {"request_id", item.id},     {"call_id", item.call_id},
          {"session_id", item.session_id}, {"agent_id", item.agent_id}, {"server", item.server},
          {"tool_name", item.tool},        {"guard", item.guard},       {"message", item.message},
          {"opened_at", item.opened_at},   {"count", item.count}};
}

std::string age_of(const std::string& opened_at, WallTime now) {
  const std::optional<WallTime> opened = from_rfc3339(opened_at);
  if (!opened) return "?";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - *opened).count();
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

Result<int> settle(const Context& context, const SettleOptions& options, bool accepted) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  core::Escalations escalations(workspace->ledger(), workspace->clock(), workspace->entropy());
  Result<void> settled = fail(ErrorCode::Internal, "a task ended without an answer");
  boost::asio::io_context loop;
  boost::asio::co_spawn(
      loop, escalations.settle(options.id, accepted, who_runs_this(), options.note.value_or("")),
      [&](const std::exception_ptr& thrown, Result<void> result) {
        if (!thrown) settled = std::move(result);
      });
  loop.run();
  SALLYPORT_CHECK_OK(settled);
  say(context.json()
          ? canonical_json(json::object{{"request_id", options.id}, {"accepted", accepted}})
          : fmt::format("{} {}", options.id, accepted ? "accepted" : "dismissed"));
  return 0;
}

}  // namespace

Result<int> approvals_list(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const std::vector<EscalationItem> items, core::waiting_escalations(records));
  if (context.json()) {
    json::array array;
    for (const EscalationItem& item : items) array.push_back(to_json(item));
    say(visible_json(canonical_json(array)));
    return 0;
  }
  if (items.empty()) say("nothing waits");
  for (const EscalationItem& item : items) {
    say(fmt::format("{}  {} ago  {} by {}: {}{}", item.id,
                    age_of(item.opened_at, workspace->clock().wall()), visible(item.tool),
                    visible(item.agent_id), visible(item.message),
                    item.count > 1 ? fmt::format(" ({} calls)", item.count) : ""));
    say(fmt::format("  escalated by {}, call {}", visible(item.guard), item.call_id));
  }
  return 0;
}

Result<int> approvals_accept(const Context& context, const SettleOptions& options) {
  return settle(context, options, true);
}

Result<int> approvals_dismiss(const Context& context, const SettleOptions& options) {
  return settle(context, options, false);
}

}  // namespace sallyport::app
