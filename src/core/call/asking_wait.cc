// Waits for a person while a client holds the call, and tells the client so (AP-34, AP-35).
#include "base/try.h"
#include "core/call/asking.h"

namespace sallyport::core {

namespace {

// Tells the attendant when the wait ends, however it ends.
class AttendantScope {
 public:
  AttendantScope(Attendant* attendant, const WaitingCall& call) : attendant_(attendant) {
    if (attendant_ != nullptr) attendant_->asked(call);
  }
  AttendantScope(const AttendantScope&) = delete;
  ~AttendantScope() {
    if (attendant_ != nullptr) attendant_->answered();
  }

 private:
  Attendant* attendant_;
};

}  // namespace

Task<Reply> Asking::held_reply(const Trail& trail, WallTime until, const Caller& caller,
                               Approvals::Role role) {
  const std::string approval_id = trail.approval_id;
  WaitingCall waiting{.approval_id = approval_id,
                      .call_id = trail.call().call_id,
                      .tier = trail.autonomy,
                      .needs_human = trail.needs_human,
                      .url = url_of(approval_id)};
  if (trail.rules && !trail.rules->rule.empty() && !trail.rules->text.empty()) {
    waiting.rule = trail.rules->rule;
    waiting.message = shown(trail.rules->message);
    waiting.text = shown(trail.rules->text);
  }
  const AttendantScope scope(caller.attendant.get(), waiting);
  while (true) {
    SALLYPORT_CO_TRY(const Reply reply,
                     co_await approvals_.wait(approval_id, until, caller.cancel, role));
    const bool away = caller.attendant && caller.attendant->away();
    if (!away || reply.kind != Reply::Kind::Approved) co_return reply;
    // A client that is away cannot take the result. The approval stays unused until the client
    // returns or the approval expires.
    SALLYPORT_CO_CHECK_OK(co_await approvals_.expire(approval_id));
    SALLYPORT_CO_TRY(const auto state, approvals_.state(approval_id));
    // An identical call used the approval; its result is the result of this call too.
    if (state && state->status == ApprovalStatus::Used) co_return reply;
    if (state && state->status == ApprovalStatus::Approved) {
      if (caller.cancel.stop_requested()) {
        co_return Reply{.kind = Reply::Kind::Cancelled, .reason = "cancelled", .door = "caller"};
      }
      co_await approvals_.pause(approval_id, caller.cancel);
    }
  }
}

}  // namespace sallyport::core
