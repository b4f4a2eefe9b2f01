#include "people/approval_desk.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "trust/trust_record.h"

namespace sallyport::people {

Task<ApprovalDesk::Given> ApprovalDesk::answer(std::string id, Said said) {
  SALLYPORT_CO_TRY(const json::object request, core::stored_request(parts_.records, id));
  const std::string asked = text_or_empty(request, "binding");
  Reply reply{.kind = said.kind,
              .by = std::move(said.by),
              .reason = std::move(said.reason),
              .door = std::move(said.door),
              .binding = std::move(said.binding).value_or(asked),
              .responded_at = std::move(said.responded_at),
              .signature = std::move(said.signature),
              .answer = std::move(said.answer)};
  if (reply.signature.empty() || reply.responded_at.empty()) {
    reply.responded_at = trust::whole_seconds(parts_.clock.wall());
  }
  if (said.sign && said.kind != Reply::Kind::Cancelled) {
    reply.signature =
        said.sign(core::ResponseStatement{.request_id = id,
                                          .reviewer = reply.by,
                                          .binding = asked,
                                          .responded_at = reply.responded_at,
                                          .approved = said.kind == Reply::Kind::Approved}
                      .text());
  }
  SALLYPORT_CO_CHECK_OK(co_await parts_.approvals.answer(id, reply));
  SALLYPORT_CO_TRY(auto state, parts_.approvals.state(id));
  // The call that waited may have run by now; what the answer did is that it was approved.
  using enum core::ApprovalStatus;
  if (state && state->status == Used) state->status = Approved;
  co_return Given{state.value_or(core::ApprovalState{}), std::move(reply)};
}

Task<void> ApprovalDesk::escalate(std::string id, std::vector<std::string> to, Said said) {
  Reply by{.kind = Reply::Kind::Approved,
           .by = std::move(said.by),
           .reason = std::move(said.reason),
           .door = std::move(said.door)};
  co_return co_await parts_.approvals.escalate(std::move(id), std::move(to), std::move(by));
}

}  // namespace sallyport::people
