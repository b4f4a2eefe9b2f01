// The queue of what a person should look at: questions about calls, and escalations until a person
// accepts or dismisses them.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <map>

#include "app/people/agent_ancestry.h"
#include "app/people/approval_items.h"
#include "app/people/approval_json.h"
#include "app/people/login.h"
#include "app/records/call_list.h"
#include "app/records/entry_text.h"
#include "app/records/short_ids.h"
#include "app/run_on.h"
#include "app/terminal/output.h"
#include "base/json_members.h"
#include "base/try.h"
#include "cli/approvals/watch_view.h"
#include "cli/common_options.h"
#include "core/approval/approval_request.h"
#include "core/approval/escalations.h"
#include "ledger/read/store_reader.h"

namespace sallyport::app {

namespace {

struct SettleOptions {
  std::string id;
  std::optional<std::string> note;
  LoginOptions login;
};

// What those have in common that are listed once.
std::string likeness(const ApprovalItem& item) {
  json::array same{to_string(item.status), item.description, core::hidden_json(item.hidden)};
  for (const char* const name : {"kind", "agent_id", "server", "tool_name", "action"}) {
    same.push_back(item.request.at(name));
  }
  return canonical_json(same);
}

void say_hidden(const ApprovalItem& item) {
  for (const core::HiddenPart& part : item.hidden) {
    say(fmt::format("  hidden: {}{}", visible(part.text()),
                    part.command ? "; it is part of a command" : ""));
  }
}

void say_question(const ApprovalItem& item, WallTime now) {
  const auto text = [&](std::string_view name) { return text_or_empty(item.request, name); };
  if (core::is_question(item.request)) {
    say(fmt::format("{}  {}  {} ago  {} asks: {}", item.id, to_string(item.status),
                    age_of(text("requested_at"), now), visible(text("agent_id")),
                    visible(item.description)));
    say(
        fmt::format("  question, until {}; answer it with `sallyport approvals answer {} --text "
                    "TEXT`",
                    text("deadline"), item.id));
    return;
  }
  say(fmt::format("{}  {}  {} ago  {} by {}: {}", item.id, to_string(item.status),
                  age_of(text("requested_at"), now), with_lookalikes(visible(text("tool_name"))),
                  visible(text("agent_id")), visible(item.description)));
  if (const json::value* const args = item.request.if_contains("args");
      args != nullptr && args->is_array() && args->get_array().size() == 1) {
    constexpr std::size_t kLongestWhat = 200;
    const std::string what = visible(telling_part(args->get_array().front()));
    if (!what.empty()) say("  " + with_lookalikes(shortened(what, kLongestWhat)));
  }
  say(fmt::format("  {}, class {}, until {}; look at it with `sallyport approvals show {}`",
                  text("kind"), visible(text("action")), text("deadline"), item.id));
  say_hidden(item);
}

// Those that look alike once, with their number, unless all are wanted.
void say_questions(const std::vector<ApprovalItem>& questions, bool all, WallTime now) {
  std::map<std::string, std::size_t> counts;
  for (const ApprovalItem& item : questions) ++counts[likeness(item)];
  for (const ApprovalItem& item : questions) {
    std::size_t& count = counts[likeness(item)];
    if (!all && count == 0) continue;
    say_question(item, now);
    if (all || count == 1) continue;
    say(fmt::format("  x {}: {} more like it, `sallyport approvals list --all` names them", count,
                    count - 1));
    count = 0;
  }
}

Result<int> settle(const Context& context, SettleOptions options, bool accepted) {
  SALLYPORT_TRY(options.id, whole_request_id(context, options.id));
  // It releases nothing, so who may approve may do it.
  SALLYPORT_TRY(const Person person,
                authorize_change(context, options.login,
                                 accepted ? "approvals accept" : "approvals dismiss", "approver"));
  boost::asio::io_context loop(1);  // behind the ledger, which may still tell it something
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  core::Escalations escalations(workspace->ledger(), workspace->clock(), workspace->entropy());
  SALLYPORT_CHECK_OK(run_on(
      loop, escalations.settle(options.id, accepted, person.who, options.note.value_or(""))));
  say(context.json()
          ? canonical_json(json::object{{"request_id", options.id}, {"accepted", accepted}})
          : fmt::format("{} {}", options.id, accepted ? "accepted" : "dismissed"));
  return 0;
}

Result<int> approvals_list(const Context& context, const ApprovalsListOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals list"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  const WallTime now = workspace->clock().wall();
  std::vector<EscalationItem> items;
  const std::string state = options.state.value_or("pending");
  if (options.kind.value_or("escalation") == "escalation" &&
      (state == "pending" || state == "all")) {
    SALLYPORT_TRY(items, core::waiting_escalations(records));
  }
  std::vector<ApprovalItem> questions;
  if (options.kind != "escalation") {
    SALLYPORT_TRY(questions, approval_items(records, options, now));
  }
  if (context.json()) {
    for (const ApprovalItem& item : questions) say(visible_json(canonical_json(to_json(item))));
    for (const EscalationItem& item : items) say(visible_json(canonical_json(app::to_json(item))));
    return 0;
  }
  if (items.empty() && questions.empty()) say("nothing waits");
  say_questions(questions, options.all, now);
  for (const EscalationItem& item : items) {
    say(fmt::format("{}  {} ago  {} by {}: {}{}", item.id, age_of(item.opened_at, now),
                    visible(item.tool), visible(item.agent_id), visible(item.message),
                    item.count > 1 ? fmt::format(" ({} calls)", item.count) : ""));
    say(
        fmt::format("  escalated by {}, call {}; take it off with `sallyport approvals accept {}` "
                    "or `dismiss`",
                    visible(item.guard), item.call_id, item.id));
  }
  return 0;
}

Result<int> approvals_accept(const Context& context, const SettleOptions& options) {
  return settle(context, options, true);
}

Result<int> approvals_dismiss(const Context& context, const SettleOptions& options) {
  return settle(context, options, false);
}

const Command kApprovalsList(
    "approvals list", "what waits, the riskiest and oldest first", approvals_list,
    [](Syntax& syntax, ApprovalsListOptions& options) {
      syntax.text("--kind", options.kind, "only of this kind").choices(approval_kinds());
      syntax.text("--state", options.state, "in this state [pending]").choices(approval_states());
      syntax.flag("--all", options.all, "list similar questions one by one");
    });

const Command kApprovalsAccept("approvals accept", "settle an escalation as right",
                               approvals_accept, [](Syntax& syntax, SettleOptions& options) {
                                 syntax.text("id", options.id, "the escalation", "ID").required();
                                 syntax.text("--note", options.note, "becomes part of the record",
                                             "TEXT");
                                 person_options(syntax, options.login);
                               });

const Command kApprovalsDismiss("approvals dismiss", "settle an escalation as no concern",
                                approvals_dismiss, [](Syntax& syntax, SettleOptions& options) {
                                  syntax.text("id", options.id, "the escalation", "ID").required();
                                  syntax.text("--note", options.note, "becomes part of the record",
                                              "TEXT");
                                  person_options(syntax, options.login);
                                });

}  // namespace

}  // namespace sallyport::app
