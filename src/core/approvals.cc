#include "core/approvals.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::core {

namespace {

constexpr std::string_view kSpace = "approval";

std::string_view word_of(Reply::Kind kind) {
  switch (kind) {
    case Reply::Kind::Approved:
      return "approved";
    case Reply::Kind::Denied:
      return "denied";
    case Reply::Kind::Expired:
      return "expired";
    case Reply::Kind::Cancelled:
      return "cancelled";
  }
  return "cancelled";
}

std::string fact_text(std::string_view word, std::string_view call_id, std::string_view digest,
                      std::string_view expires_at) {
  return canonical_json(json::object{
      {"state", word}, {"call_id", call_id}, {"call_digest", digest}, {"expires_at", expires_at}});
}

}  // namespace

Draft Approvals::asked(const Question& question, const Subject& subject) const {
  Draft draft{.kind = Kind::Approval,
              .subject = subject,
              .body = {{"record", "approval_request"},
                       {"request_id", question.approval_id},
                       {"kind", "approval"},
                       {"state", "pending"},
                       {"description", question.description},
                       {"input", question.input},
                       {"call_digest", question.call_digest},
                       {"deadline", question.expires_at}}};
  draft.facts.push_back(
      {std::string(kSpace), question.approval_id,
       fact_text("pending", question.call_id, question.call_digest, question.expires_at), true});
  return draft;
}

Result<std::optional<Approvals::State>> Approvals::state(const std::string& approval_id) {
  SALLYPORT_TRY(const std::optional<std::string> stored, recorder_.fact(kSpace, approval_id));
  if (!stored) return std::nullopt;
  const std::optional<Placed> placed = split_place(*stored);
  if (!placed) return fail(ErrorCode::Corrupt, "the state of an approval cannot be read");
  SALLYPORT_TRY(const json::value value, parse_own_json(placed->value));
  const json::object& object = value.as_object();
  const auto member = [&](std::string_view name) {
    return std::string(text_in(object, name).value_or(""));
  };
  return State{.word = member("state"),
               .call_id = member("call_id"),
               .call_digest = member("call_digest"),
               .expires_at = from_rfc3339(member("expires_at")).value_or(WallTime{}),
               .stored = *stored,
               .sequence = placed->sequence};
}

Approvals::Change Approvals::change(const std::string& approval_id, const State& state,
                                    std::string_view word) {
  return {
      .expected = {std::string(kSpace), approval_id, state.stored},
      .fact = {std::string(kSpace), approval_id,
               fact_text(word, state.call_id, state.call_digest, rfc3339(state.expires_at)), true}};
}

Fact Approvals::invalidated(const std::string& approval_id, const std::string& call_id,
                            const std::string& call_digest) {
  return {std::string(kSpace), approval_id, fact_text("invalidated", call_id, call_digest, ""),
          true};
}

Task<void> Approvals::answer(std::string approval_id, Reply reply, Subject subject) {
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  if (!now) {
    co_return fail(ErrorCode::NotFound, fmt::format("there is no approval `{}`", approval_id));
  }
  const bool late = clock_.wall() >= now->expires_at && reply.kind != Reply::Kind::Expired &&
                    reply.kind != Reply::Kind::Cancelled;
  if (now->word != "pending" || late) {
    const std::string word = late && now->word == "pending" ? "expired" : now->word;
    co_return fail(ErrorCode::Conflict,
                   fmt::format("approval `{}` is already {}", approval_id, word), {}, word);
  }
  SALLYPORT_CO_TRY(const json::object asked, recorder_.entry(now->sequence));
  const std::string agent(text_in(asked, "agent_id").value_or(""));
  if (reply.kind == Reply::Kind::Approved && (reply.by.empty() || reply.by == agent)) {
    co_return fail(ErrorCode::Unauthenticated, "nobody approves a call of his own", "by");
  }
  if (!is_utf8(reply.reason)) reply.reason.clear();
  const std::string_view word = word_of(reply.kind);
  subject.call_id = now->call_id;
  subject.agent_id = agent;
  Draft draft{.kind = Kind::Approval,
              .subject = std::move(subject),
              .body = {{"record", "approval_decision"},
                       {"request_id", approval_id},
                       {"state", word},
                       {"approved", reply.kind == Reply::Kind::Approved},
                       {"reviewer", reply.by},
                       {"reason", reply.reason}}};
  const Change made = change(approval_id, *now, word);
  draft.facts.push_back(made.fact);
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  const auto written =
      co_await recorder_.append(std::move(drafts), Urgency::Reports, {made.expected});
  if (!written && written.error().code == ErrorCode::Conflict) {
    co_return fail(ErrorCode::Conflict,
                   fmt::format("approval `{}` was answered by somebody else", approval_id), {},
                   "answered");
  }
  if (!written) co_return std::unexpected(written.error());
  bell_.ring(approval_id);
  co_return Result<void>{};
}

Task<void> Approvals::expire(std::string approval_id) {
  SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
  if (!now || now->word != "pending" || clock_.wall() < now->expires_at) co_return Result<void>{};
  const Result<void> said = co_await answer(
      std::move(approval_id), Reply{Reply::Kind::Expired, {}, "approval_expired"}, {});
  if (!said && said.error().code != ErrorCode::Conflict) co_return said;
  co_return Result<void>{};
}

Result<Reply> Approvals::reply_of(const State& state) {
  if (state.word == "expired") return Reply{Reply::Kind::Expired, {}, "approval_expired"};
  if (state.word == "cancelled") return Reply{Reply::Kind::Cancelled, {}, "cancelled"};
  SALLYPORT_TRY(const json::object entry, recorder_.entry(state.sequence));
  const json::object* const body = object_in(entry, "body");
  const auto member = [&](std::string_view name) {
    return std::string(body ? text_in(*body, name).value_or("") : "");
  };
  if (state.word == "approved") return Reply::approve(member("reviewer"));
  if (state.word == "denied") return Reply::deny(member("reviewer"), member("reason"));
  return fail(ErrorCode::Conflict, "the approval is already " + state.word, {}, state.word);
}

Task<Reply> Approvals::wait(std::string approval_id, WallTime until, Subject subject,
                            std::stop_token cancel) {
  // Answers of other processes are seen at the next look.
  constexpr std::chrono::milliseconds kLook{200};
  while (true) {
    SALLYPORT_CO_TRY(const std::optional<State> now, state(approval_id));
    if (!now) co_return fail(ErrorCode::NotFound, "the question is gone");
    if (now->word != "pending") co_return reply_of(*now);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.wall());
    std::optional<Reply> given_up;
    if (cancel.stop_requested()) given_up = Reply{Reply::Kind::Cancelled, {}, "cancelled"};
    if (left.count() <= 0) given_up = Reply{Reply::Kind::Expired, {}, "approval_expired"};
    if (given_up) {
      const Result<void> said = co_await answer(approval_id, *given_up, subject);
      // An answer that came at the same moment counts.
      if (!said && said.error().code == ErrorCode::Conflict) continue;
      co_return std::move(*given_up);
    }
    co_await bell_.wait(approval_id, std::min(left, kLook), cancel);
  }
}

}  // namespace sallyport::core
