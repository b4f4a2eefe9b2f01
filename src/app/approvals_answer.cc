// A person answers from another process: the held call goes on within a moment (AP-27, AP-28).
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "app/commands.h"
#include "app/governed_process.h"
#include "app/login.h"
#include "app/output.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval_request.h"
#include "core/approvals.h"
#include "ledger/store_reader.h"
#include "trust/trust_record.h"

namespace sallyport::app {

namespace {

Result<void> carry_out(Task<void> task) {
  Result<void> done = fail(ErrorCode::Internal, "a task ended without an answer");
  boost::asio::io_context loop;
  boost::asio::co_spawn(loop, std::move(task),
                        [&](const std::exception_ptr& thrown, Result<void> result) {
                          if (!thrown) done = std::move(result);
                        });
  loop.run();
  return done;
}

// Before anybody is asked for a passphrase in vain.
Result<json::object> pending_request(const Context& context, const std::string& id) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const auto state, core::approval_state(records, id));
  if (!state) return fail(ErrorCode::NotFound, fmt::format("there is no approval `{:.80}`", id));
  if (!state->open()) {
    return fail(ErrorCode::Conflict, fmt::format("approval `{}` is already {}", id, state->word),
                {}, state->word);
  }
  SALLYPORT_TRY(const json::object entry, core::request_entry(records, id));
  return core::request_of(entry);
}

void tell(const Context& context, const std::string& id, const core::ApprovalState& state,
          const Reply& reply) {
  const std::size_t yes = state.open() ? state.counted().size() : 0;
  if (context.json()) {
    json::object object{{"request_id", id},
                        {"state", state.word},
                        {"reviewer", reply.by},
                        {"door", reply.door},
                        {"responded_at", reply.responded_at}};
    if (state.open()) object["approvals"] = yes;
    if (state.open()) object["approvers_required"] = state.required;
    if (!reply.signature.empty()) object["signature"] = reply.signature;
    say(visible_json(canonical_json(object)));
    return;
  }
  say(state.open() ? fmt::format("{}: your yes is on record, {} of {}", id, yes, state.required)
                   : fmt::format("{} {} by {}", id, state.word, visible(reply.by)));
}

Result<int> answer(const Context& context, const ApprovalsAnswerOptions& options,
                   std::string_view verb, Reply::Kind kind) {
  SALLYPORT_CHECK_OK(refuse_agents(context, fmt::format("approvals {}", verb)));
  SALLYPORT_TRY(const json::object request, pending_request(context, options.id));
  SALLYPORT_TRY(const Login login, log_in(context, options.login));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  const std::string binding(text_in(request, "binding").value_or(""));
  Reply reply{.kind = kind,
              .by = login.name,
              .reason = options.reason.value_or(""),
              .door = login.door,
              .binding = options.binding.value_or(binding),
              .responded_at = trust::whole_seconds(workspace->clock().wall())};
  if (login.key && kind != Reply::Kind::Cancelled) {
    reply.signature =
        login.key->sign(core::ResponseStatement{.request_id = options.id,
                                                .reviewer = login.name,
                                                .binding = binding,
                                                .responded_at = reply.responded_at,
                                                .approved = kind == Reply::Kind::Approved}
                            .text());
  }
  core::Approvals approvals(workspace->ledger(), workspace->clock(), workspace->redactor());
  SALLYPORT_CHECK_OK(carry_out(approvals.answer(options.id, reply, {})));
  SALLYPORT_TRY(const auto state, approvals.state(options.id));
  if (state) tell(context, options.id, *state, reply);
  return 0;
}

}  // namespace

Result<int> approvals_approve(const Context& context, const ApprovalsAnswerOptions& options) {
  return answer(context, options, "approve", Reply::Kind::Approved);
}

Result<int> approvals_deny(const Context& context, const ApprovalsAnswerOptions& options) {
  return answer(context, options, "deny", Reply::Kind::Denied);
}

Result<int> approvals_cancel(const Context& context, const ApprovalsAnswerOptions& options) {
  return answer(context, options, "cancel", Reply::Kind::Cancelled);
}

}  // namespace sallyport::app
