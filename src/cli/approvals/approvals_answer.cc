// A person answers from another process: the held call goes on within a moment (AP-27, AP-28).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "cli/common_options.h"
#include "core/approval/approval_request.h"
#include "ledger/read/store_reader.h"
#include "people/agent_ancestry.h"
#include "people/answer_limits.h"
#include "people/answering.h"
#include "people/approval_items.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ApprovalsAnswerOptions {
  std::string id;
  std::optional<std::string> reason;
  std::optional<std::string> binding;
  LoginOptions login;
};

void print_given(const Context& context, const std::string& id, const core::ApprovalState& state,
                 const Reply& reply) {
  const std::size_t yes = state.open() ? state.counted().size() : 0;
  if (context.json()) {
    json::object object{{"request_id", id},
                        {"state", to_string(state.status)},
                        {"reviewer", reply.by},
                        {"door", reply.door},
                        {"responded_at", reply.responded_at}};
    if (state.open()) object["approvals"] = yes;
    if (state.open()) object["approvers_required"] = state.required;
    if (!reply.signature.empty()) object["signature"] = reply.signature;
    print_line(visible_json(canonical_json(object)));
    return;
  }
  print_line(state.open()
                 ? fmt::format("{}: your yes is on record, {} of {}", id, yes, state.required)
                 : fmt::format("{} {} by {}", id, to_string(state.status), visible(reply.by)));
}

// A yes to a command of which a part was redacted names what was seen.
Result<void> check_seen(const Context& context, const std::string& id) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const ApprovalItem item, approval_item(records, id, workspace->clock().wall()));
  return app::check_seen(
      item.hidden, fmt::format("look at it with `sallyport approvals show {} --reveal`, then say "
                               "`--binding` with the digits at its end",
                               id));
}

// Before the approver types a passphrase in vain (RU-18).
Result<void> check_reason(const Context& context, const std::string& id) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const auto state, core::approval_state(records, id));
  if (!state || !state->reason_required) return {};
  return fail(ErrorCode::InvalidInput,
              "a rule of the policy asks for a reason: add `--reason TEXT`, or deny", "reason",
              "reason_required");
}

Result<int> answer(const Context& context, ApprovalsAnswerOptions options, std::string_view verb,
                   Reply::Kind kind) {
  SALLYPORT_CHECK_OK(refuse_agents(context, fmt::format("approvals {}", verb)));
  SALLYPORT_TRY(options.id, whole_request_id(context, options.id));
  // Checked before the person is asked for a passphrase in vain.
  SALLYPORT_TRY(const json::object request, pending_request(context, options.id));
  const bool yes = kind == Reply::Kind::Approved;
  if (yes && !options.binding) SALLYPORT_CHECK_OK(check_seen(context, options.id));
  if (yes && core::kind_of(request) == QuestionKind::Question) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` is a question: answer it with `sallyport approvals answer {} "
                            "--text TEXT`",
                            options.id, options.id));
  }
  if (yes && options.reason.value_or("").empty()) {
    SALLYPORT_CHECK_OK(check_reason(context, options.id));
  }
  SALLYPORT_TRY(Login login, log_in(context, options.login, fmt::format("approvals {}", verb)));
  const Answering person(context, std::move(login));
  if (yes && !options.binding) SALLYPORT_CHECK_OK(person.check_haste());
  SALLYPORT_TRY(const Answering::Recorded given,
                person.answer(options.id, {.kind = kind,
                                           .reason = options.reason.value_or(""),
                                           .binding = options.binding}));
  print_given(context, options.id, given.state, given.reply);
  return 0;
}

Result<int> approvals_approve(const Context& context, const ApprovalsAnswerOptions& options) {
  return answer(context, options, "approve", Reply::Kind::Approved);
}

Result<int> approvals_deny(const Context& context, const ApprovalsAnswerOptions& options) {
  return answer(context, options, "deny", Reply::Kind::Denied);
}

Result<int> approvals_cancel(const Context& context, const ApprovalsAnswerOptions& options) {
  return answer(context, options, "cancel", Reply::Kind::Cancelled);
}

void answer_options(Syntax& syntax, ApprovalsAnswerOptions& options) {
  syntax.text("id", options.id, "id of the approval request", "ID").required();
  syntax.text("--reason", options.reason, "reason; becomes part of the record");
  syntax.text("--binding", options.binding,
              "binding of the call that you saw; no other call is answered", "DIGEST");
  login_options(syntax, options.login);
}

const Command kApprovalsApprove("approvals approve", "approve a request; its call runs once",
                                approvals_approve, answer_options);

const Command kApprovalsDeny("approvals deny", "deny a request; its call does not run",
                             approvals_deny, answer_options);

const Command kApprovalsCancel("approvals cancel", "withdraw a request; its call does not run",
                               approvals_cancel, answer_options);

}  // namespace

}  // namespace sallyport::app
