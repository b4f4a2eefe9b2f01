#include "app/people/answering.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "app/people/answer_limits.h"
#include "app/run_on.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/approvals.h"
#include "core/approval/escalations.h"
#include "ledger/read/store_reader.h"
#include "trust/trust_record.h"

namespace sallyport::app {

namespace {

// What pages for people end with is its beginning (AP-38).
std::string whole_binding(const std::string& seen, const std::string& asked) {
  constexpr std::size_t kShown = 8;
  const std::size_t digits = std::string_view("sha256:").size();
  const bool begins = seen.size() >= kShown && asked.size() > digits &&
                      std::string_view(asked).substr(digits).starts_with(seen);
  return begins ? asked : seen;
}

}  // namespace

Result<json::object> pending_request(const Context& context, const std::string& id) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const auto state, core::approval_state(records, id));
  SALLYPORT_TRY(const auto escalation, core::waiting_escalation(records, id));
  if (escalation) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` is an escalation: `sallyport approvals accept {}` or `dismiss` "
                            "takes it off the queue",
                            id, id));
  }
  if (!state) return fail(ErrorCode::NotFound, fmt::format("there is no approval `{:.80}`", id));
  if (!state->open()) {
    const std::string word(to_string(state->status));
    return fail(ErrorCode::Conflict, fmt::format("approval `{}` is already {}", id, word), {},
                word);
  }
  return core::stored_request(records, id);
}

Result<Answering::Given> Answering::answer(const std::string& id, Said said) const {
  SALLYPORT_TRY(const json::object request, pending_request(context_, id));
  boost::asio::io_context loop(1);  // behind the ledger, which may still tell it something
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context_.open_maintaining());
  const std::string asked = text_or_empty(request, "binding");
  Reply reply{.kind = said.kind,
              .by = login_.name,
              .reason = std::move(said.reason),
              .door = login_.door,
              .binding = said.binding ? whole_binding(*said.binding, asked) : asked,
              .responded_at = trust::whole_seconds(workspace->clock().wall()),
              .answer = std::move(said.answer)};
  if (login_.key && said.kind != Reply::Kind::Cancelled) {
    reply.signature =
        login_.key->sign(core::ResponseStatement{.request_id = id,
                                                 .reviewer = login_.name,
                                                 .binding = asked,
                                                 .responded_at = reply.responded_at,
                                                 .approved = said.kind == Reply::Kind::Approved}
                             .text());
  }
  core::Approvals approvals(workspace->ledger(), workspace->clock(), workspace->redactor(),
                            [this] { return login_.rules; });
  SALLYPORT_CHECK_OK(run_on(loop, approvals.answer(id, reply)));
  SALLYPORT_TRY(auto state, approvals.state(id));
  // The call that waited may have run by now; what the answer did is that it was approved.
  using enum core::ApprovalStatus;
  if (state && state->status == Used) state->status = Approved;
  return Given{state.value_or(core::ApprovalState{}), std::move(reply)};
}

Result<void> Answering::escalate(const std::string& id, std::vector<std::string> to,
                                 std::string reason) const {
  boost::asio::io_context loop(1);  // behind the ledger, which may still tell it something
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context_.open_maintaining());
  core::Approvals approvals(workspace->ledger(), workspace->clock(), workspace->redactor(),
                            [this] { return login_.rules; });
  const Reply by{.kind = Reply::Kind::Approved,
                 .by = login_.name,
                 .reason = std::move(reason),
                 .door = login_.door};
  return run_on(loop, approvals.escalate(id, std::move(to), by));
}

Result<std::size_t> Answering::recent_approvals() const {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context_.open_reading());
  return app::recent_approvals(workspace->store(), login_.name, workspace->clock().wall());
}

}  // namespace sallyport::app
