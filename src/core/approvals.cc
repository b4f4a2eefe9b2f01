#include "core/approvals.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval_request.h"
#include "core/budgets.h"
#include "core/plain_text.h"
#include "core/topic_event.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kLongestReason = 64 * 1024;
constexpr std::size_t kLongestName = 512;
constexpr unsigned kTries = 64;

std::string whole_seconds(WallTime time) {
  return rfc3339(time).substr(0, 19) + 'Z';
}

Fact fact_of(const std::string& approval_id, const ApprovalState& state) {
  return {std::string(kApprovalSpace), approval_id, state.text(), true};
}

Fact expected_of(const std::string& approval_id, const ApprovalState& state) {
  return {std::string(kApprovalSpace), approval_id, state.stored};
}

bool is_question(const json::object& request) {
  return text_in(request, "kind") == "question";
}

std::string topic_of(std::string_view kind) {
  if (kind == "question") return std::string(hitl::kQuestions);
  return std::string(kind == "dual_control" ? hitl::kDualControl : hitl::kApprovals);
}

std::string asked_kind(std::string_view kind) {
  if (kind == "question") return std::string(hitl::kQuestionAsked);
  return std::string(kind == "dual_control" ? hitl::kDualControlRequested
                                            : hitl::kApprovalRequested);
}

// An event on the topic of approvals (LG-9). Small and of our own making, so it always fits.
Draft announce(const json::object& request, std::string kind, json::object payload) {
  const std::string queue = topic_of(text_in(request, "kind").value_or(""));
  const bool proposal = bool_in(request, "proposal").value_or(false);
  const bool passed_on = kind == hitl::kEscalationIssued;
  Result<Draft> draft = topic_draft(
      {.topic = passed_on ? std::string(hitl::kEscalations) : queue,
       .kind = std::move(kind),
       .payload = std::move(payload)},
      Governed{.agent = text_or_empty(request, "agent_id"),
               .trace_id = text_or_empty(request, "trace_id"),
               .autonomy_tier = proposal ? Autonomy::Suggest : Autonomy::ActWithApproval});
  SALLYPORT_INVARIANT(draft.has_value());
  draft->subject.call_id = text_or_empty(request, "call_id");
  return std::move(*draft);
}

Subject subject_of(const json::object& request) {
  return {.call_id = text_or_empty(request, "call_id"),
          .session_id = text_or_empty(request, "session_id"),
          .agent_id = text_or_empty(request, "agent_id"),
          .server = text_or_empty(request, "server"),
          .tool_name = text_or_empty(request, "tool_name"),
          .trace_id = text_or_empty(request, "trace_id")};
}

// The members of the request; one of an earlier release has some of them in the entry itself.
Result<json::object> request_about(RecordReader& records, const std::string& approval_id) {
  SALLYPORT_TRY(const json::object entry, request_entry(records, approval_id));
  json::object request = request_of(entry);
  for (const char* const name :
       {"agent_id", "call_id", "session_id", "server", "tool_name", "trace_id"}) {
    if (request[name].is_null()) request[name] = text_or_empty(entry, name);
  }
  return request;
}

std::unexpected<Error> not_pending(const std::string& approval_id, std::string_view word) {
  return fail(ErrorCode::Conflict, fmt::format("approval `{}` is already {}", approval_id, word),
              {}, std::string(word));
}

// AP-13: neither the agent nor one of its own, listed or not.
bool is_requester(std::string_view reviewer, const json::object& request) {
  for (const char* const name : {"agent_id", "principal"}) {
    const std::string who = text_or_empty(request, name);
    if (who.empty()) continue;
    if (reviewer == who || reviewer.starts_with(who + "/")) return true;
  }
  return false;
}

Result<void> check_reviewer(const Reply& reply, const json::object& request,
                            const ApprovalState& state) {
  const bool nobody = reply.by.empty() && reply.kind == Reply::Kind::Approved;
  if (nobody || is_requester(reply.by, request)) {
    return fail(ErrorCode::Unauthenticated, "nobody approves a call of his own", "by");
  }
  if (reply.by.size() > kLongestName || !is_utf8(reply.by)) {
    return fail(ErrorCode::InvalidInput, "a name is at most 512 bytes of UTF-8", "by");
  }
  const json::value* const listed = request.if_contains("reviewers");
  if (listed == nullptr || !listed->is_array() || listed->get_array().empty()) return {};
  const json::array& names = listed->get_array();
  if (std::ranges::find(names, json::value(reply.by)) != names.end()) return {};
  if (std::ranges::find(state.also, reply.by) != state.also.end()) return {};
  return fail(ErrorCode::Unauthenticated,
              fmt::format("`{:.80}` is not among the reviewers of this call", reply.by), "by",
              "not_a_reviewer");
}

// A question takes an answer, and nothing else does (AP-25).
Result<void> check_answer(const Reply& reply, const json::object& request) {
  if (reply.answer.size() > kLongestReason || !is_utf8(reply.answer)) {
    return fail(ErrorCode::InvalidInput, "an answer is at most 64 KiB of UTF-8", "answer");
  }
  const bool answers = is_question(request) && reply.kind == Reply::Kind::Approved;
  if (answers == !reply.answer.empty()) return {};
  if (!answers) {
    return fail(ErrorCode::InvalidInput, "only a question that is about no call takes an `answer`",
                "answer");
  }
  return fail(ErrorCode::InvalidInput,
              "this is a question and takes an `answer`; a yes says nothing about it", "answer");
}

Draft response_draft(const std::string& approval_id, const Reply& reply, const Vote& vote,
                     const json::object& request) {
  Draft draft{.kind = Kind::Approval,
              .subject = subject_of(request),
              .body = {{"record", "approval_response"},
                       {"request_id", approval_id},
                       {"reviewer", vote.by},
                       {"approved", vote.approved},
                       {"binding", request.at("binding")},
                       {"responded_at", vote.at},
                       {"door", vote.door}}};
  if (!reply.reason.empty()) draft.body["reason"] = reply.reason;
  if (!reply.answer.empty()) draft.body["answer"] = reply.answer;
  if (!vote.signature.empty()) draft.body["signature"] = vote.signature;
  return draft;
}

}  // namespace

std::vector<Draft> Approvals::asked(const Question& question, std::chrono::seconds use_within,
                                    const Subject& subject) const {
  Draft draft{.kind = Kind::Approval, .subject = subject, .body = request_json(question)};
  const json::object request = draft.body;
  draft.body["record"] = "approval_request";
  draft.body["state"] = "pending";
  draft.body["description"] = question.description;
  draft.body["call_digest"] = question.call_digest;
  const State pending{.call_id = question.call_id,
                      .call_digest = question.call_digest,
                      .expires_at = from_rfc3339(question.expires_at).value_or(WallTime{}),
                      .use_within = use_within,
                      .required = question.approvers_required};
  draft.facts.push_back(fact_of(question.approval_id, pending));
  draft.facts.push_back({std::string(kRequestSpace), question.approval_id, "", true});
  std::vector<Draft> drafts;
  drafts.push_back(announce(request, asked_kind(question.kind),
                            {{"request_id", question.approval_id},
                             {"kind", question.kind},
                             {"call_id", question.call_id},
                             {"tool_name", question.tool},
                             {"trace_id", question.trace_id},
                             {"deadline", question.expires_at}}));
  drafts.push_back(std::move(draft));
  return drafts;
}

Approvals::Change Approvals::change(const std::string& approval_id, const State& state,
                                    std::string_view word) {
  State next = state;
  next.word = word;
  return {.expected = expected_of(approval_id, state), .fact = fact_of(approval_id, next)};
}

Fact Approvals::invalidated(const std::string& approval_id, const std::string& call_id,
                            const std::string& call_digest) {
  return fact_of(approval_id,
                 State{.word = "invalidated", .call_id = call_id, .call_digest = call_digest});
}

// The record of AP-3, and the event that goes with it.
std::vector<Draft> Approvals::decision(const std::string& approval_id, State& state,
                                       const Closing& closing, const json::object& request) const {
  const WallTime now = clock_.wall();
  const bool approved = closing.word == "approved";
  const bool voted = approved || closing.word == "denied";
  json::array reviewers;
  json::array signatures;
  for (const Vote& vote : voted ? state.counted() : std::vector<Vote>{}) {
    reviewers.emplace_back(vote.by);
    signatures.push_back(
        json::object{{"reviewer", vote.by}, {"signed_at", vote.at}, {"signature", vote.proof()}});
  }
  if (!closing.by.empty()) reviewers.emplace_back(closing.by);
  Draft draft{.kind = Kind::Approval,
              .subject = subject_of(request),
              .body = {{"record", "approval_decision"},
                       {"request_id", approval_id},
                       {"state", closing.word},
                       {"approved", approved},
                       {"reviewers", std::move(reviewers)},
                       {"decided_at", rfc3339(now)},
                       {"door", closing.door},
                       {"signatures", std::move(signatures)}}};
  if (!closing.reason.empty()) draft.body["reason"] = closing.reason;
  state.word = closing.word;
  if (approved) state.expires_at = now + state.use_within;
  draft.facts.push_back(fact_of(approval_id, state));
  // Nobody may come back for a call that was refused (CG-50).
  if (!approved && !state.call_id.empty()) {
    draft.changes.push_back(budgets::reverse(state.call_id));
  }
  std::vector<Draft> drafts;
  if (voted && !is_question(request)) {
    drafts.push_back(
        announce(request, std::string(approved ? hitl::kApprovalApproved : hitl::kApprovalDenied),
                 {{"request_id", approval_id}, {"trace_id", request.at("trace_id")}}));
  } else if (closing.word == "expired") {
    drafts.push_back(announce(request, std::string(hitl::kTimeout),
                              {{"request_id", approval_id},
                               {"kind", request.at("kind")},
                               {"trace_id", request.at("trace_id")},
                               {"timed_out_at", rfc3339(now)}}));
  }
  drafts.push_back(std::move(draft));
  return drafts;
}

Task<void> Approvals::answer(std::string approval_id, Reply reply, Subject) {
  if (reply.kind == Reply::Kind::Approved || reply.kind == Reply::Kind::Denied) {
    co_return co_await respond(std::move(approval_id), std::move(reply));
  }
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  if (!now) {
    co_return fail(ErrorCode::NotFound, fmt::format("there is no approval `{}`", approval_id));
  }
  if (!now->open()) co_return not_pending(approval_id, now->word);
  const bool expired = reply.kind == Reply::Kind::Expired;
  Closing closing{.word = expired ? "expired" : "cancelled",
                  .reason = std::move(reply.reason),
                  .door = expired ? "clock" : reply.door,
                  .by = std::move(reply.by)};
  SALLYPORT_CO_TRY(const bool closed, co_await close(approval_id, "pending", std::move(closing)));
  if (closed) co_return Result<void>{};
  SALLYPORT_CO_TRY(const std::optional<State> after, state(approval_id));
  co_return not_pending(approval_id, after ? after->word : "gone");
}

Task<void> Approvals::respond(std::string approval_id, Reply reply) {
  if (reply.reason.size() > kLongestReason) {
    co_return fail(ErrorCode::InvalidInput, "a reason is at most 64 KiB", "reason");
  }
  if (!is_utf8(reply.reason)) reply.reason.clear();
  for (unsigned tried = 0; tried < kTries; ++tried) {
    SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
    SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
    if (!now) {
      co_return fail(ErrorCode::NotFound, fmt::format("there is no approval `{}`", approval_id));
    }
    if (!now->open()) co_return not_pending(approval_id, now->word);
    // Answers that came first and suffice are made a decision before anything is added to them.
    if (now->folded()) continue;
    if (clock_.wall() >= now->expires_at) co_return not_pending(approval_id, "expired");
    SALLYPORT_CO_TRY(const json::object request, request_about(recorder_, approval_id));
    SALLYPORT_CO_CHECK_OK(check_reviewer(reply, request, *now));
    SALLYPORT_CO_CHECK_OK(check_answer(reply, request));
    if (!reply.binding.empty() && reply.binding != text_or_empty(request, "binding")) {
      co_return fail(ErrorCode::Conflict, "the answer is about another call than the question",
                     "binding", "binding_mismatch");
    }
    const Vote vote{
        .by = plain_text(redactor_, reply.by),
        .at = reply.responded_at.empty() ? whole_seconds(clock_.wall()) : reply.responded_at,
        .door = reply.door,
        .signature = reply.signature,
        .approved = reply.kind == Reply::Kind::Approved};
    State next = *now;
    next.votes.push_back(vote);
    std::vector<Draft> drafts;
    drafts.push_back(announce(request, std::string(hitl::kResponseReceived),
                              {{"request_id", approval_id},
                               {"reviewer", vote.by},
                               {"approved", vote.approved},
                               {"trace_id", request.at("trace_id")}}));
    drafts.push_back(response_draft(approval_id, reply, vote, request));
    const auto folded = next.folded();
    // What has no signature is proved by the place of its entry, which is not known yet; and what
    // was said to a question is looked up there.
    const bool decided = folded && !vote.signature.empty() && !is_question(request);
    if (decided) {
      const Closing closing{.word = *folded, .reason = reply.reason, .door = reply.door};
      for (Draft& draft : decision(approval_id, next, closing, request)) {
        drafts.push_back(std::move(draft));
      }
    } else {
      drafts.back().facts.push_back(fact_of(approval_id, next));
    }
    const auto written = co_await recorder_.append(std::move(drafts), Urgency::Reports,
                                                   {expected_of(approval_id, *now)});
    // Somebody else answered at the same moment.
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
    if (folded && !decided) {
      SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
    }
    bell_.ring(approval_id);
    co_return Result<void>{};
  }
  co_return fail(ErrorCode::Unavailable, "too many answer at the same time, try again");
}

Task<void> Approvals::escalate(std::string approval_id, std::vector<std::string> to, Reply by) {
  for (unsigned tried = 0; tried < kTries; ++tried) {
    SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
    if (!now) {
      co_return fail(ErrorCode::NotFound, fmt::format("there is no approval `{}`", approval_id));
    }
    if (!now->open()) co_return not_pending(approval_id, now->word);
    if (clock_.wall() >= now->expires_at) co_return not_pending(approval_id, "expired");
    SALLYPORT_CO_TRY(const json::object request, request_about(recorder_, approval_id));
    SALLYPORT_CO_CHECK_OK(check_reviewer(by, request, *now));
    State next = *now;
    for (const std::string& name : to) {
      if (name.empty() || is_requester(name, request)) {
        co_return fail(ErrorCode::Unauthenticated,
                       fmt::format("`{:.80}` acts in this call and so cannot answer it", name),
                       "to");
      }
      const bool known = std::ranges::find(next.also, name) != next.also.end();
      if (!known) next.also.push_back(name);
    }
    Draft draft{.kind = Kind::Approval,
                .subject = subject_of(request),
                .body = {{"record", "approval_escalated"},
                         {"request_id", approval_id},
                         {"reviewer", plain_text(redactor_, by.by)},
                         {"escalated_to", json::value_from(to)},
                         {"binding", request.at("binding")},
                         {"deadline", request.at("deadline")},
                         {"door", by.door}}};
    if (!by.reason.empty()) draft.body["reason"] = by.reason;
    draft.facts.push_back(fact_of(approval_id, next));
    std::vector<Draft> drafts;
    drafts.push_back(announce(request, std::string(hitl::kEscalationIssued),
                              {{"request_id", approval_id},
                               {"escalated_to", json::value_from(to)},
                               {"trace_id", request.at("trace_id")}}));
    drafts.push_back(std::move(draft));
    const auto written = co_await recorder_.append(std::move(drafts), Urgency::Reports,
                                                   {expected_of(approval_id, *now)});
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
    co_return Result<void>{};
  }
  co_return fail(ErrorCode::Unavailable, "too many answer at the same time, try again");
}

// Answers that suffice and were not made a decision yet: their process was slower, or is gone.
Task<void> Approvals::settle(std::string approval_id) {
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  const auto folded = now && now->open() ? now->folded() : std::nullopt;
  if (!folded) co_return Result<void>{};
  const Vote last = now->counted().back();
  Closing closing{.word = *folded, .door = last.door};
  if (last.sequence != 0) {
    SALLYPORT_CO_TRY(const json::object response, recorder_.entry(last.sequence));
    if (const json::object* const body = object_in(response, "body")) {
      closing.reason = text_or_empty(*body, "reason");
    }
  }
  SALLYPORT_CO_CHECK_OK(co_await close(std::move(approval_id), "pending", std::move(closing)));
  co_return Result<void>{};
}

Task<bool> Approvals::close(std::string approval_id, std::string_view from, Closing closing) {
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  if (!now || now->word != from) co_return false;
  SALLYPORT_CO_TRY(const json::object request, request_about(recorder_, approval_id));
  State next = *now;
  const auto written =
      co_await recorder_.append(decision(approval_id, next, closing, request), Urgency::Reports,
                                {expected_of(approval_id, *now)});
  if (!written && written.error().code == ErrorCode::Conflict) co_return false;
  if (!written) co_return std::unexpected(written.error());
  bell_.ring(approval_id);
  co_return true;
}

Task<void> Approvals::expire(std::string approval_id) {
  SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  const bool may_expire = now && (now->open() || now->yes_expires());
  if (!may_expire || clock_.wall() < now->expires_at) co_return Result<void>{};
  Closing closing{.word = "expired", .reason = "approval_expired", .door = "clock"};
  SALLYPORT_CO_CHECK_OK(co_await close(std::move(approval_id), now->word, std::move(closing)));
  co_return Result<void>{};
}

Task<void> Approvals::expire_all() {
  SALLYPORT_CO_TRY(const std::vector<Fact> all, recorder_.facts(kApprovalSpace));
  for (const Fact& fact : all) {
    const Result<State> found = State::parse(fact.value.value_or(""));
    if (!found || (!found->open() && !found->yes_expires())) continue;
    if (clock_.wall() < found->expires_at && !found->folded()) continue;
    SALLYPORT_CO_CHECK_OK(co_await expire(fact.key));
  }
  co_return Result<void>{};
}

Task<void> Approvals::invalidate(std::string approval_id, std::string reason) {
  Closing closing{.word = "invalidated", .reason = std::move(reason), .door = "policy"};
  SALLYPORT_CO_CHECK_OK(co_await close(std::move(approval_id), "approved", std::move(closing)));
  co_return Result<void>{};
}

Task<std::size_t> Approvals::cancel_session(std::string session_id, std::string reason) {
  std::size_t cancelled = 0;
  SALLYPORT_CO_TRY(const std::vector<Fact> all, recorder_.facts(kApprovalSpace));
  for (const Fact& fact : all) {
    const Result<State> found = State::parse(fact.value.value_or(""));
    if (!found || !found->open()) continue;
    SALLYPORT_CO_TRY(const json::object request, request_about(recorder_, fact.key));
    const bool proposal = bool_in(request, "proposal").value_or(false);
    if (proposal || text_or_empty(request, "session_id") != session_id) continue;
    Closing closing{.word = "cancelled", .reason = reason, .door = "session"};
    SALLYPORT_CO_TRY(const bool closed, co_await close(fact.key, "pending", std::move(closing)));
    if (closed) ++cancelled;
  }
  co_return cancelled;
}

// A call that used it, or could not any more, was quicker: its result is the answer, or its refusal
// is.
Result<Reply> Approvals::decided(const State& state) {
  if (state.word == "used") {
    const std::vector<Vote> votes = state.counted();
    return Reply::approve(votes.empty() ? "" : votes.front().by);
  }
  if (state.word == "invalidated") return Reply::deny("", "approval_invalidated");
  return reply_of(state);
}

Result<Reply> Approvals::reply_of(const State& state) {
  if (state.word == "expired") {
    return Reply{.kind = Reply::Kind::Expired, .reason = "approval_expired"};
  }
  if (state.word == "cancelled")
    return Reply{.kind = Reply::Kind::Cancelled, .reason = "cancelled"};
  const std::vector<Vote> votes = state.counted();
  const bool known = state.word == "approved" || state.word == "denied";
  if (!known) {
    return fail(ErrorCode::Conflict, "the approval is already " + state.word, {}, state.word);
  }
  SALLYPORT_TRY(const json::object entry, recorder_.entry(state.sequence));
  const json::object* const body = object_in(entry, "body");
  // An earlier release named one reviewer, in the decision alone.
  Reply reply{
      .kind = state.word == "approved" ? Reply::Kind::Approved : Reply::Kind::Denied,
      .by = votes.empty() ? (body ? text_or_empty(*body, "reviewer") : "") : votes.front().by};
  if (reply.kind == Reply::Kind::Denied && body) reply.reason = text_or_empty(*body, "reason");
  if (!votes.empty()) reply.door = votes.back().door;
  const bool answered = reply.kind == Reply::Kind::Approved && state.call_id.empty();
  if (answered && !votes.empty() && votes.back().sequence != 0) {
    SALLYPORT_TRY(const json::object response, recorder_.entry(votes.back().sequence));
    const json::object* const said = object_in(response, "body");
    if (said != nullptr) reply.answer = text_or_empty(*said, "answer");
  }
  return reply;
}

// Answers of other processes are seen at the next look: soon where few wait, and never at the cost
// of more than some thousand looks a second.
std::chrono::milliseconds Approvals::look_again() const {
  return std::chrono::milliseconds(std::clamp(waiting_->load() / 2, 20u, 500u));
}

Async<void> Approvals::pause(std::string approval_id) {
  co_await bell_.wait(std::move(approval_id), look_again(), {});
}

Task<Reply> Approvals::wait(std::string approval_id, WallTime until, std::stop_token cancel,
                            Role role) {
  struct Waiting {
    explicit Waiting(std::shared_ptr<std::atomic<unsigned>> count) : count_(std::move(count)) {
      ++*count_;
    }
    Waiting(const Waiting&) = delete;
    ~Waiting() { --*count_; }
    std::shared_ptr<std::atomic<unsigned>> count_;
  } waiting(waiting_);
  while (true) {
    SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
    if (!now) co_return fail(ErrorCode::NotFound, "the question is gone");
    if (!now->open()) co_return decided(*now);
    if (now->folded()) {
      // A yes that cannot be made a decision is none: whoever waits is told so.
      SALLYPORT_CO_CHECK_OK(co_await settle(approval_id));
      continue;
    }
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
      const Result<void> said = co_await answer(approval_id, *given_up, {});
      // An answer that came at the same moment counts.
      if (!said && said.error().code == ErrorCode::Conflict) continue;
      co_return std::move(*given_up);
    }
    co_await bell_.wait(approval_id, std::min(left, look_again()), cancel);
  }
}

}  // namespace sallyport::core
