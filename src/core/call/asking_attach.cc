// A call that is identical to one with an open question opens no second question. It waits for the
// same answer and gets the same result (AP-36, AP-37).
#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/doors.h"
#include "core/call/asking.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

namespace {

bool answered_by_host(const ApprovalState& state) {
  return std::ranges::any_of(state.votes, [](const Vote& vote) { return vote.door == kHostDoor; });
}

}  // namespace

std::string asked_key(const Trail& trail) {
  const Call& call = trail.call();
  json::array like{call.session_id, call.server, trail.call_digest()};
  // Narrower scopes ask other people, so a question without them does not suffice.
  if (trail.scopes && (!trail.scopes->reviewers.empty() || trail.scopes->quorum > 1)) {
    like.push_back(json::array(trail.scopes->reviewers.begin(), trail.scopes->reviewers.end()));
    like.push_back(json::value(trail.scopes->quorum));
  }
  return trail.digest(canonical_json(json::value(std::move(like))));
}

Result<Asking::SameQuestion> Asking::same_question(const Trail& trail) {
  SameQuestion same{.expected = {std::string(kAskedCall), asked_key(trail)}};
  SALLYPORT_TRY(same.expected.value, parts_.recorder.fact(same.expected.space, same.expected.key));
  if (!same.expected.value || trail.call().session_id.empty()) return same;
  SALLYPORT_TRY(const auto state, approvals_.state(*same.expected.value));
  const bool open = state && (state->open() || state->status == ApprovalStatus::Approved) &&
                    !answered_by_host(*state);
  if (open && parts_.clock.wall() < state->expires_at) same.approval_id = *same.expected.value;
  return same;
}

// True: there is an answer.
Task<bool> Asking::attach(Trail& trail, const Caller& caller, std::string approval_id) {
  trail.approval_id = approval_id;
  SALLYPORT_CO_TRY(const json::object request, stored_request(parts_.recorder, approval_id));
  Batch batch;
  const Batch::Handle joined = batch.add(journal_.joined(trail));
  batch[joined].facts.push_back(
      held_call(trail.call().call_id, approval_id,
                caller.leaves ? std::string(kNobody) : parts_.recorder.instance_id()));
  const auto written = co_await journal_.commit(trail, std::move(batch), Urgency::Announces);
  if (!written) {
    journal_.owe(trail,
                 {.outcome = Outcome::persistence_failed(
                      "the approval question could not be recorded: " + written.error().message)});
    co_return std::unexpected(written.error());
  }
  trail.hold_here();
  trail.asked_at = (*written)[joined];
  if (caller.leaves) {
    SALLYPORT_CO_CHECK_OK(co_await approvals_.disown_forged(approval_id));
    SALLYPORT_CO_CHECK_OK(co_await approvals_.expire(approval_id));
    SALLYPORT_CO_TRY(const auto state, approvals_.state(approval_id));
    if (state && state->open()) co_return false;
  }
  const auto deadline = from_rfc3339(text_in(request, "deadline").value_or(""));
  Result<Reply> reply = co_await held_reply(trail, deadline.value_or(parts_.clock.wall()), caller,
                                            Approvals::Role::Guest);
  if (!reply) co_return std::unexpected(reply.error());
  if (reply->kind == Reply::Kind::Approved && reply->door == kHostDoor) {
    reply = Reply::deny("", "the yes was for another call like this one; make it again");
  }
  take_reply(trail, *reply, trail.call_digest());
  co_return true;
}

}  // namespace sallyport::core
