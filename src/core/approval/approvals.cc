#include "core/approval/approvals.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_drafts.h"
#include "core/approval/approval_request.h"
#include "core/approval/doors.h"
#include "core/approval/live_questions.h"
#include "core/approval/reply_check.h"
#include "core/approval/vote_check.h"
#include "core/record/plain_text.h"

namespace sallyport::core {

namespace {

constexpr unsigned kTries = 64;

std::string whole_seconds(WallTime time) {
  return rfc3339(time).substr(0, 19) + 'Z';
}

std::unexpected<Error> not_pending(const std::string& approval_id, ApprovalStatus status) {
  const std::string_view word = to_string(status);
  return fail(ErrorCode::Conflict, fmt::format("approval `{}` is already {}", approval_id, word),
              {}, std::string(word));
}

std::unexpected<Error> too_many() {
  return fail(ErrorCode::Unavailable, "too many answer at the same time, try again");
}

// Who may answer from now on.
Result<void> add_reviewers(ApprovalState& state, const std::vector<std::string>& names,
                           const json::object& request) {
  for (const std::string& name : names) {
    if (name.empty() || is_requester(name, request)) {
      return fail(ErrorCode::Unauthenticated,
                  fmt::format("`{:.80}` acts in this call and so cannot answer it", name), "to");
    }
    const bool known = std::ranges::find(state.also, name) != state.also.end();
    if (!known) state.also.push_back(name);
  }
  return {};
}

// An approval that a host reports is not the answer of a registered person. Its use decides whether
// it counts (AP-33).
Result<void> check_voter(const ApprovalRules* rules, RecordReader& records,
                         const std::string& approval_id, const Vote& vote,
                         const json::object& request) {
  if (rules == nullptr || vote.door == kHostDoor) return {};
  return check_vote(*rules, records, approval_id, vote, text_or_empty(request, "binding"));
}

}  // namespace

Approvals::Change Approvals::change(const std::string& approval_id, const State& state,
                                    ApprovalStatus status) {
  State next = state;
  next.status = status;
  return {.expected = state.expected(approval_id), .fact = next.fact(approval_id)};
}

Fact Approvals::invalidated(const std::string& approval_id, const std::string& call_id,
                            const std::string& call_digest) {
  const State state{
      .status = ApprovalStatus::Invalidated, .call_id = call_id, .call_digest = call_digest};
  return state.fact(approval_id);
}

Result<Approvals::State> Approvals::open_state(const std::string& approval_id) {
  SALLYPORT_TRY(std::optional<State> now, state(approval_id));
  if (!now) {
    return fail(ErrorCode::NotFound, fmt::format("there is no approval `{}`", approval_id));
  }
  if (!now->open()) return not_pending(approval_id, now->status);
  return std::move(*now);
}

Task<void> Approvals::answer(std::string approval_id, Reply reply) {
  if (reply.kind == Reply::Kind::Approved || reply.kind == Reply::Kind::Denied) {
    co_return co_await respond(std::move(approval_id), std::move(reply));
  }
  const bool expired = reply.kind == Reply::Kind::Expired;
  // A question whose time is over can no longer be withdrawn.
  if (!expired) SALLYPORT_CO_CHECK_OK(co_await expire(approval_id));
  SALLYPORT_CO_CHECK_OK(open_state(approval_id));
  Closing closing{.status = expired ? ApprovalStatus::Expired : ApprovalStatus::Cancelled,
                  .reason = std::move(reply.reason),
                  .door = expired ? "clock" : reply.door,
                  .by = std::move(reply.by)};
  SALLYPORT_CO_TRY(const bool closed,
                   co_await close(approval_id, ApprovalStatus::Pending, std::move(closing)));
  if (closed) co_return Result<void>{};
  SALLYPORT_CO_TRY(const std::optional<State> after, state(approval_id));
  if (!after) co_return fail(ErrorCode::NotFound, "the question is gone");
  co_return not_pending(approval_id, after->status);
}

Vote Approvals::vote_of(const Reply& reply) const {
  return {.by = plain_text(redactor_, reply.by),
          .at = reply.responded_at.empty() ? whole_seconds(clock_.wall()) : reply.responded_at,
          .door = reply.door,
          .signature = reply.signature,
          .approved = reply.kind == Reply::Kind::Approved};
}

Task<void> Approvals::respond(std::string approval_id, Reply reply) {
  if (reply.reason.size() > kLongestReason) {
    co_return fail(ErrorCode::InvalidInput, "a reason is at most 64 KiB", "reason");
  }
  if (!is_utf8(reply.reason)) reply.reason.clear();
  for (unsigned tried = 0; tried < kTries; ++tried) {
    SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
    SALLYPORT_CO_CHECK_OK(co_await pass_on(approval_id));
    SALLYPORT_CO_TRY(const State now, open_state(approval_id));
    // Earlier answers that suffice become a decision before any answer is added.
    if (now.folded()) continue;
    if (clock_.wall() >= now.expires_at)
      co_return not_pending(approval_id, ApprovalStatus::Expired);
    SALLYPORT_CO_TRY(const json::object request, stored_request(records_, approval_id));
    SALLYPORT_CO_CHECK_OK(check_reply(reply, request, now));
    const Vote vote = vote_of(reply);
    const std::shared_ptr<const ApprovalRules> rules = this->rules();
    const Result<void> valid = check_voter(rules.get(), records_, approval_id, vote, request);
    if (!valid) {
      std::vector<Draft> refused;
      refused.push_back(refused_draft(approval_id, vote, valid.error().message, request));
      SALLYPORT_CO_CHECK_OK(co_await records_.append(std::move(refused), Urgency::Reports));
      co_return std::unexpected(valid.error());
    }
    State next = now;
    next.votes.push_back(vote);
    std::vector<Draft> drafts = response_drafts(approval_id, reply, vote, request);
    const std::string known_by =
        rules && rules->people ? shown_credential(rules->people->credential(vote.by)) : "";
    if (!known_by.empty()) drafts.back().body["known_by"] = known_by;
    const auto folded = next.folded();
    // An answer without a signature is proved by the place of its entry, which is not known yet.
    // The words of an answer to a question are read from that entry, too.
    const bool decided = folded && !vote.signature.empty() && !is_question(request);
    if (decided) {
      const Closing closing{.status = *folded, .reason = reply.reason, .door = reply.door};
      append(drafts, decision_drafts(approval_id, next, closing, request, clock_.wall()));
    } else {
      drafts.back().facts.push_back(next.fact(approval_id));
    }
    const auto written =
        co_await records_.append(std::move(drafts), Urgency::Reports, {now.expected(approval_id)});
    // Another process answered at the same moment.
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
    if (folded && !decided) {
      SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
    }
    log_.ring(approval_id);
    co_return Result<void>{};
  }
  co_return too_many();
}

Task<void> Approvals::disown_forged(std::string approval_id) {
  const std::shared_ptr<const ApprovalRules> rules = this->rules();
  if (!rules || !rules->people) co_return Result<void>{};
  for (unsigned tried = 0; tried < kTries; ++tried) {
    SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
    const bool decided = now && now->decided();
    if (!decided && !(now && now->open() && !now->votes.empty())) co_return Result<void>{};
    SALLYPORT_CO_TRY(const json::object request, stored_request(records_, approval_id));
    State next = *now;
    std::vector<Draft> drafts;
    std::erase_if(next.votes, [&](const Vote& vote) {
      Result<void> valid = check_voter(rules.get(), records_, approval_id, vote, request);
      // The host of another call cannot have been asked about this one.
      if (valid && vote.door == kHostDoor) {
        valid = fail(ErrorCode::Unauthenticated, "it was observed at a host, for another call");
      }
      if (!valid)
        drafts.push_back(refused_draft(approval_id, vote, valid.error().message, request));
      return !valid;
    });
    if (decided && next.folded() == now->status) co_return Result<void>{};
    if (decided && drafts.empty()) {
      drafts.push_back(refused_draft(approval_id,
                                     {.approved = now->status == ApprovalStatus::Approved},
                                     "no valid answer supports this state", request));
    }
    if (drafts.empty()) co_return Result<void>{};
    next.status = ApprovalStatus::Pending;
    next.expires_at = from_rfc3339(text_or_empty(request, "deadline")).value_or(WallTime{});
    drafts.back().facts.push_back(next.fact(approval_id));
    live_questions::add_reopened(drafts.back().facts, approval_id, *now);
    const auto written =
        co_await records_.append(std::move(drafts), Urgency::Reports, {now->expected(approval_id)});
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
    co_return Result<void>{};
  }
  co_return too_many();
}

Task<void> Approvals::escalate(std::string approval_id, std::vector<std::string> to, Reply by) {
  for (unsigned tried = 0; tried < kTries; ++tried) {
    SALLYPORT_CO_CHECK_OK(co_await pass_on(approval_id));
    SALLYPORT_CO_TRY(const State now, open_state(approval_id));
    if (clock_.wall() >= now.expires_at)
      co_return not_pending(approval_id, ApprovalStatus::Expired);
    SALLYPORT_CO_TRY(const json::object request, stored_request(records_, approval_id));
    SALLYPORT_CO_CHECK_OK(check_reviewer(by, request, now));
    State next = now;
    SALLYPORT_CO_CHECK_OK(add_reviewers(next, to, request));
    Reply named = by;
    named.by = plain_text(redactor_, by.by);
    std::vector<Draft> drafts = passed_on_drafts(approval_id, to, named, request);
    drafts.back().facts.push_back(next.fact(approval_id));
    const auto written =
        co_await records_.append(std::move(drafts), Urgency::Reports, {now.expected(approval_id)});
    // Another process answered at the same moment.
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
    co_return Result<void>{};
  }
  co_return too_many();
}

Task<void> Approvals::pass_on(std::string approval_id) {
  for (unsigned tried = 0; tried < kTries; ++tried) {
    SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
    const WallTime time = clock_.wall();
    if (!now || !now->passes_on(time) || time >= now->expires_at) co_return Result<void>{};
    SALLYPORT_CO_TRY(const json::object request, stored_request(records_, approval_id));
    State next = *now;
    next.later.clear();
    std::vector<Draft> drafts;
    for (const LaterReviewers& step : now->later) {
      if (time < step.at) {
        next.later.push_back(step);
        continue;
      }
      std::vector<std::string> to = step.to;
      std::erase_if(to, [&](const std::string& name) { return is_requester(name, request); });
      SALLYPORT_CO_CHECK_OK(add_reviewers(next, to, request));
      const Reply by{.by = "rule " + step.rule, .door = "clock"};
      append(drafts, passed_on_drafts(approval_id, to, by, request));
    }
    drafts.back().facts.push_back(next.fact(approval_id));
    const auto written =
        co_await records_.append(std::move(drafts), Urgency::Reports, {now->expected(approval_id)});
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
    log_.ring(approval_id);
    co_return Result<void>{};
  }
  co_return too_many();
}

// Turns sufficient answers into a decision that their own process did not make yet.
Task<void> Approvals::settle(std::string approval_id) {
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  const auto folded = now && now->open() ? now->folded() : std::nullopt;
  if (!folded) co_return Result<void>{};
  const Vote last = now->counted().back();
  Closing closing{.status = *folded, .door = last.door};
  if (last.sequence != 0) {
    SALLYPORT_CO_TRY(const json::object response, records_.entry(last.sequence));
    if (const json::object* const body = object_in(response, "body")) {
      closing.reason = text_or_empty(*body, "reason");
    }
  }
  SALLYPORT_CO_CHECK_OK(
      co_await close(std::move(approval_id), ApprovalStatus::Pending, std::move(closing)));
  co_return Result<void>{};
}

Task<bool> Approvals::close(std::string approval_id, ApprovalStatus from, Closing closing) {
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  if (!now || now->status != from) co_return false;
  SALLYPORT_CO_TRY(const json::object request, stored_request(records_, approval_id));
  State next = *now;
  const auto written =
      co_await records_.append(decision_drafts(approval_id, next, closing, request, clock_.wall()),
                               Urgency::Reports, {now->expected(approval_id)});
  if (!written && written.error().code == ErrorCode::Conflict) co_return false;
  if (!written) co_return std::unexpected(written.error());
  log_.ring(approval_id);
  co_return true;
}

Task<void> Approvals::expire(std::string approval_id) {
  SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
  SALLYPORT_CO_CHECK_OK(co_await pass_on(approval_id));
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  const bool may_expire = now && (now->open() || now->yes_expires());
  if (!may_expire || clock_.wall() < now->expires_at) co_return Result<void>{};
  Closing closing{.status = ApprovalStatus::Expired, .reason = "approval_expired", .door = "clock"};
  SALLYPORT_CO_CHECK_OK(co_await close(std::move(approval_id), now->status, std::move(closing)));
  co_return Result<void>{};
}

Task<void> Approvals::expire_all() {
  SALLYPORT_CO_TRY(const std::vector<live_questions::Live> live, live_questions::all(records_));
  for (const auto& [id, found] : live) {
    if (!found) continue;
    const WallTime time = clock_.wall();
    if (time < found->expires_at && !found->folded() && !found->passes_on(time)) continue;
    SALLYPORT_CO_CHECK_OK(co_await expire(id));
  }
  co_return Result<void>{};
}

Task<void> Approvals::invalidate(std::string approval_id, std::string reason) {
  Closing closing{
      .status = ApprovalStatus::Invalidated, .reason = std::move(reason), .door = "policy"};
  SALLYPORT_CO_CHECK_OK(
      co_await close(std::move(approval_id), ApprovalStatus::Approved, std::move(closing)));
  co_return Result<void>{};
}

Task<std::size_t> Approvals::cancel_session(std::string session_id, std::string reason) {
  std::size_t cancelled = 0;
  SALLYPORT_CO_TRY(const std::vector<live_questions::Live> live, live_questions::all(records_));
  for (const auto& [id, found] : live) {
    if (!found || !found->open()) continue;
    SALLYPORT_CO_TRY(const json::object request, stored_request(records_, id));
    const bool proposal = bool_in(request, "proposal").value_or(false);
    if (proposal || text_or_empty(request, "session_id") != session_id) continue;
    Closing closing{.status = ApprovalStatus::Cancelled, .reason = reason, .door = "session"};
    SALLYPORT_CO_TRY(const bool closed,
                     co_await close(id, ApprovalStatus::Pending, std::move(closing)));
    if (closed) ++cancelled;
  }
  co_return cancelled;
}

}  // namespace sallyport::core
