// The queue of what a person should look at: questions about calls, and escalations until a person
// accepts or dismisses them.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <map>

#include "base/json_members.h"
#include "base/run_on.h"
#include "base/try.h"
#include "cli/approvals/watch_view.h"
#include "cli/common_options.h"
#include "core/approval/approval_request.h"
#include "core/approval/escalations.h"
#include "ledger/read/store_reader.h"
#include "people/agent_ancestry.h"
#include "people/approval_items.h"
#include "people/approval_json.h"
#include "people/login.h"
#include "records/call_list.h"
#include "records/entry_text.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct SettleOptions {
  std::string id;
  std::optional<std::string> note;
  LoginOptions login;
};

// The common values of questions that are listed as one.
std::string likeness(const ApprovalItem& item) {
  json::array same{to_string(item.status), item.description, core::hidden_json(item.hidden)};
  for (const char* const name : {"kind", "agent_id", "server", "tool_name", "action"}) {
    same.push_back(item.request.at(name));
  }
  return canonical_json(same);
}

void print_hidden(const ApprovalItem& item) {
  for (const core::HiddenPart& part : item.hidden) {
    print_line(fmt::format("  hidden: {}{}", visible(part.text()),
                           part.command ? "; it is part of a command" : ""));
  }
}

void print_question(const ApprovalItem& item, WallTime now) {
  const auto text = [&](std::string_view name) { return text_or_empty(item.request, name); };
  if (core::is_question(item.request)) {
    print_line(fmt::format("{}  {}  {} ago  {} asks: {}", item.id, to_string(item.status),
                           age_of(text("requested_at"), now), visible(text("agent_id")),
                           visible(item.description)));
    print_line(
        fmt::format("  question, until {}; answer it with `sallyport approvals answer {} --text "
                    "TEXT`",
                    text("deadline"), item.id));
    return;
  }
  print_line(fmt::format("{}  {}  {} ago  {} by {}: {}", item.id, to_string(item.status),
                         age_of(text("requested_at"), now),
                         with_lookalikes(visible(text("tool_name"))), visible(text("agent_id")),
                         visible(item.description)));
  if (const json::value* const args = item.request.if_contains("args");
      args != nullptr && args->is_array() && args->get_array().size() == 1) {
    constexpr std::size_t kLongestWhat = 200;
    const std::string what = visible(call_subject(args->get_array().front()));
    if (!what.empty()) print_line("  " + with_lookalikes(shortened(what, kLongestWhat)));
  }
  print_line(fmt::format("  {}, class {}, until {}; look at it with `sallyport approvals show {}`",
                         text("kind"), visible(text("action")), text("deadline"), item.id));
  print_hidden(item);
}

// Lists similar questions once, with their number, unless all are wanted.
void print_questions(const std::vector<ApprovalItem>& questions, bool all, WallTime now) {
  std::map<std::string, std::size_t> counts;
  for (const ApprovalItem& item : questions) ++counts[likeness(item)];
  for (const ApprovalItem& item : questions) {
    std::size_t& count = counts[likeness(item)];
    if (!all && count == 0) continue;
    print_question(item, now);
    if (all || count == 1) continue;
    print_line(fmt::format("  x {}: {} more like it, `sallyport approvals list --all` names them",
                           count, count - 1));
    count = 0;
  }
}

Result<int> settle(const Context& context, SettleOptions options, bool accepted) {
  SALLYPORT_TRY(options.id, whole_request_id(context, options.id));
  // It releases nothing, so every approver may do it.
  SALLYPORT_TRY(const Person person,
                authorize_change(context, options.login,
                                 accepted ? "approvals accept" : "approvals dismiss", "approver"));
  boost::asio::io_context loop(1);  // destroyed after the ledger, which may still post to it
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  core::Escalations escalations(workspace->ledger(), workspace->clock(), workspace->entropy());
  SALLYPORT_CHECK_OK(run_on(
      loop, escalations.settle(options.id, accepted, person.who, options.note.value_or(""))));
  print_line(context.json()
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
    for (const ApprovalItem& item : questions)
      print_line(visible_json(canonical_json(to_json(item))));
    for (const EscalationItem& item : items)
      print_line(visible_json(canonical_json(app::to_json(item))));
    return 0;
  }
  if (items.empty() && questions.empty()) print_line("nothing waits");
  print_questions(questions, options.all, now);
  for (const EscalationItem& item : items) {
    print_line(fmt::format("{}  {} ago  {} by {}: {}{}", item.id, age_of(item.opened_at, now),
                           visible(item.tool), visible(item.agent_id), visible(item.message),
                           item.count > 1 ? fmt::format(" ({} calls)", item.count) : ""));
    print_line(
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
    "approvals list", "list what waits for a person, riskiest and oldest first", approvals_list,
    [](Syntax& syntax, ApprovalsListOptions& options) {
      syntax.text("--kind", options.kind, "only of this kind").choices(approval_kinds());
      syntax.text("--state", options.state, "only in this state [pending]")
          .choices(approval_states());
      syntax.flag("--all", options.all, "list similar requests one by one");
    });

const Command kApprovalsAccept(
    "approvals accept", "close an escalation as right", approvals_accept,
    [](Syntax& syntax, SettleOptions& options) {
      syntax.text("id", options.id, "id of the escalation", "ID").required();
      syntax.text("--note", options.note, "your note; becomes part of the record", "TEXT");
      person_options(syntax, options.login);
    });

const Command kApprovalsDismiss(
    "approvals dismiss", "close an escalation as no concern", approvals_dismiss,
    [](Syntax& syntax, SettleOptions& options) {
      syntax.text("id", options.id, "id of the escalation", "ID").required();
      syntax.text("--note", options.note, "your note; becomes part of the record", "TEXT");
      person_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
