#include "people/approval_desk.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/reply_check.h"
#include "trust/trust_record.h"

namespace sallyport::app {

Task<ApprovalDesk::Recorded> ApprovalDesk::answer(std::string id, PersonAnswer given) {
  SALLYPORT_CO_TRY(const json::object request, core::stored_request(parts_.records, id));
  const std::string asked = text_or_empty(request, "binding");
  if (given.binding) SALLYPORT_CO_CHECK_OK(core::check_binding(*given.binding, request));
  Reply reply{.kind = given.kind,
              .by = std::move(given.by),
              .reason = std::move(given.reason),
              .door = std::move(given.door),
              .binding = std::move(given.binding).value_or(asked),
              .responded_at = std::move(given.responded_at),
              .signature = std::move(given.signature),
              .answer = std::move(given.answer)};
  if (reply.signature.empty() || reply.responded_at.empty()) {
    reply.responded_at = trust::whole_seconds(parts_.clock.wall());
  }
  if (given.sign && given.kind != Reply::Kind::Cancelled) {
    reply.signature =
        given.sign(core::ResponseStatement{.request_id = id,
                                           .reviewer = reply.by,
                                           .binding = asked,
                                           .responded_at = reply.responded_at,
                                           .approved = given.kind == Reply::Kind::Approved}
                       .text());
  }
  SALLYPORT_CO_CHECK_OK(co_await parts_.approvals.answer(id, reply));
  SALLYPORT_CO_TRY(auto state, parts_.approvals.state(id));
  // The waiting call may have run by now. The effect of the answer was the approval.
  using enum core::ApprovalStatus;
  if (state && state->status == Used) state->status = Approved;
  co_return Recorded{state.value_or(core::ApprovalState{}), std::move(reply)};
}

Task<void> ApprovalDesk::escalate(std::string id, std::vector<std::string> to, PersonAnswer given) {
  Reply by{.kind = Reply::Kind::Approved,
           .by = std::move(given.by),
           .reason = std::move(given.reason),
           .door = std::move(given.door)};
  co_return co_await parts_.approvals.escalate(std::move(id), std::move(to), std::move(by));
}

}  // namespace sallyport::app
