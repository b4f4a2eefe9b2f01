// Waits for the answers of people to a question, and returns the decision.
#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approvals.h"

namespace sallyport::core {

// If a call has used the approval, or could no longer use it, the answer is its result or its
// refusal.
Result<Reply> Approvals::decided(const State& state) {
  if (state.status == ApprovalStatus::Used) {
    const std::vector<Vote> votes = state.counted();
    return Reply::approve(votes.empty() ? "" : votes.front().by);
  }
  if (state.status == ApprovalStatus::Invalidated) return Reply::deny("", "approval_invalidated");
  return reply_of(state);
}

Result<Reply> Approvals::reply_of(const State& state) {
  if (state.status == ApprovalStatus::Expired) {
    return Reply{.kind = Reply::Kind::Expired, .reason = "approval_expired"};
  }
  if (state.status == ApprovalStatus::Cancelled) {
    return Reply{.kind = Reply::Kind::Cancelled, .reason = "cancelled"};
  }
  const std::vector<Vote> votes = state.counted();
  if (!state.decided()) {
    const std::string word(to_string(state.status));
    return fail(ErrorCode::Conflict, "the approval is already " + word, {}, word);
  }
  SALLYPORT_TRY(const json::object entry, records_.entry(state.sequence));
  const json::object* const body = object_in(entry, "body");
  // An earlier release named one reviewer, in the decision alone.
  Reply reply{
      .kind =
          state.status == ApprovalStatus::Approved ? Reply::Kind::Approved : Reply::Kind::Denied,
      .by = votes.empty() ? (body ? text_or_empty(*body, "reviewer") : "") : votes.front().by};
  if (reply.kind == Reply::Kind::Denied && body) reply.reason = text_or_empty(*body, "reason");
  if (!votes.empty()) reply.door = votes.back().door;
  const bool answered = reply.kind == Reply::Kind::Approved && state.call_id.empty();
  if (answered && !votes.empty() && votes.back().sequence != 0) {
    SALLYPORT_TRY(const json::object response, records_.entry(votes.back().sequence));
    const json::object* const answer_body = object_in(response, "body");
    if (answer_body != nullptr) reply.answer = text_or_empty(*answer_body, "answer");
  }
  return reply;
}

Async<void> Approvals::pause(std::string approval_id, std::stop_token cancel) {
  co_await log_.wait(std::move(approval_id), std::chrono::milliseconds(500), std::move(cancel));
}

Task<Reply> Approvals::wait(std::string approval_id, WallTime until, std::stop_token cancel,
                            Role role) {
  while (true) {
    SALLYPORT_CO_TRY(std::optional<State> now, state(approval_id));
    // Most checks find no answer.
    if (now && (!now->open() || !now->votes.empty())) {
      SALLYPORT_CO_CHECK_OK(co_await disown_forged(approval_id));
      SALLYPORT_CO_TRY(now, state(approval_id));
    }
    if (!now) co_return fail(ErrorCode::NotFound, "the question is gone");
    if (!now->open()) co_return decided(*now);
    if (now->folded()) {
      // An approval that cannot become a decision does not count: the caller gets the error.
      SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
      continue;
    }
    if (now->passes_on(clock_.wall())) SALLYPORT_CO_CHECK_OK(co_await pass_on(approval_id));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.wall());
    std::optional<Reply> given_up;
    if (cancel.stop_requested()) {
      given_up = Reply{.kind = Reply::Kind::Cancelled, .reason = "cancelled", .door = "caller"};
    }
    if (left.count() <= 0) {
      given_up = Reply{.kind = Reply::Kind::Expired, .reason = "approval_expired"};
    }
    const bool leaves = role == Role::Guest && given_up && given_up->kind == Reply::Kind::Cancelled;
    if (leaves) co_return std::move(*given_up);
    if (given_up) {
      const Result<void> recorded = co_await answer(approval_id, *given_up);
      // An answer that came at the same moment counts.
      if (!recorded && recorded.error().code == ErrorCode::Conflict) continue;
      co_return std::move(*given_up);
    }
    co_await log_.wait(approval_id, left, cancel);
  }
}

}  // namespace sallyport::core
