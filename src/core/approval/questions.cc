#include "core/approval/questions.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/approval/approval_drafts.h"
#include "core/approval/approval_request.h"
#include "core/approval/live_questions.h"
#include "core/approval/open_questions.h"
#include "core/approval/vote_check.h"
#include "core/call/call_check.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kLongestText = 16 * 1024;
constexpr unsigned kQuestionTries = 64;

// Checks the ids like those of a call.
Result<void> check(const HumanQuestion& question) {
  SALLYPORT_CHECK_OK(check_call({.agent_id = question.agent_id,
                                 .session_id = question.session_id,
                                 .trace_id = question.trace_id,
                                 .tool = "question",
                                 .trigger_id = question.trigger_id}));
  const bool fits = !question.text.empty() && question.text.size() <= kLongestText;
  if (fits && check_json(json::value(question.text))) return {};
  return fail(ErrorCode::InvalidInput,
              fmt::format("a question is 1 to {} bytes of UTF-8", kLongestText), "text");
}

json::value input_of(const std::string& text) {
  return json::object{{"question", text}};
}

HumanAnswer::Kind kind_of(Reply::Kind kind) {
  switch (kind) {
    case Reply::Kind::Approved:
      return HumanAnswer::Kind::Answered;
    case Reply::Kind::Denied:
      return HumanAnswer::Kind::Refused;
    case Reply::Kind::Expired:
      return HumanAnswer::Kind::Expired;
    case Reply::Kind::Cancelled:
      break;
  }
  return HumanAnswer::Kind::Cancelled;
}

}  // namespace

Question Questions::question_of(const HumanQuestion& asked, std::string id,
                                const Plan& plan) const {
  const WallTime now = parts_.clock.wall();
  const auto within = std::min(asked.within.value_or(plan.approval_time()), plan.approval_time());
  Question question{.approval_id = std::move(id),
                    .session_id = asked.session_id,
                    .agent_id = asked.agent_id.empty() ? "runtime" : asked.agent_id,
                    .description = asked.text,
                    .input = input_of(asked.text),
                    .policy_hash = plan.hash(),
                    .expires_at = rfc3339(now + within),
                    .kind = QuestionKind::Question,
                    .trace_id = asked.trace_id.empty()
                                    ? "trace-" + uuid7_text(parts_.clock, parts_.entropy)
                                    : asked.trace_id,
                    .nonce = fresh_nonce(parts_.entropy),
                    .reviewers = plan.approvals().reviewers,
                    .requested_at = rfc3339(now)};
  question.binding = binding_of(question);
  return question;
}

Task<std::string> Questions::ask(HumanQuestion asked) {
  SALLYPORT_CO_CHECK_OK(check(asked));
  const std::shared_ptr<const Plan> plan = parts_.plans.current();
  const bool named = !asked.trigger_id.empty();
  for (unsigned tried = 0; tried < kQuestionTries; ++tried) {
    std::string id = "apr_" + uuid7_text(parts_.clock, parts_.entropy);
    if (named) {
      SALLYPORT_CO_TRY(id, fresh_question_id(parts_.records, to_string(QuestionKind::Question),
                                             asked.trigger_id));
    }
    const Question question = question_of(asked, id, *plan);
    const Subject subject{.policy_hash = plan->hash(),
                          .session_id = question.session_id,
                          .agent_id = question.agent_id,
                          .trace_id = question.trace_id};
    std::vector<Draft> drafts = question_drafts(question, {plan->approvals().use_within}, subject);
    live_questions::begin(parts_.records, drafts.back().facts);
    drafts.back().changes.push_back(open_questions::add(
        {.agent_id = question.agent_id, .approval_id = id, .most = plan->approvals().most_open},
        parts_.clock.wall()));
    const auto written = co_await parts_.records.append(std::move(drafts), Urgency::Announces,
                                                        {{std::string(kRequestSpace), id}});
    if (written) co_return id;
    // Another process asked in the same dispatch at the same moment.
    if (written.error().code != ErrorCode::Conflict) co_return std::unexpected(written.error());
  }
  co_return fail(ErrorCode::Unavailable, "too many ask at the same time, try again");
}

Task<HumanAnswer> Questions::wait(std::string request_id, std::stop_token cancel) {
  SALLYPORT_CO_TRY(const auto state, parts_.approvals.state(request_id));
  if (!state) co_return fail(ErrorCode::NotFound, "the question is gone");
  SALLYPORT_CO_CHECK_OK(
      co_await parts_.approvals.wait(request_id, state->expires_at, std::move(cancel)));
  co_return answer_to(request_id);
}

Result<HumanAnswer> Questions::answer_to(const std::string& request_id) {
  SALLYPORT_TRY(const auto state, parts_.approvals.state(request_id));
  if (!state || !state->call_id.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("there is no question `{:.80}`", request_id));
  }
  return answer_in(request_id, *state);
}

Result<HumanAnswer> Questions::answer_in(const std::string& request_id,
                                         const ApprovalState& state) {
  HumanAnswer answer{.request_id = request_id};
  if (state.open()) return answer;
  SALLYPORT_TRY(Reply reply, parts_.approvals.decided(state));
  answer.kind = kind_of(reply.kind);
  answer.by = std::move(reply.by);
  const bool answered = answer.kind == HumanAnswer::Kind::Answered;
  answer.text = answered ? std::move(reply.answer) : std::move(reply.reason);
  if (!answered) return answer;
  if (const Result<void> counts = check_people(request_id, state); !counts) {
    answer.kind = HumanAnswer::Kind::Refused;
    answer.text = "approval_invalid: " + counts.error().message;
  }
  return answer;
}

Result<void> Questions::check_people(const std::string& request_id, const ApprovalState& state) {
  const std::shared_ptr<const Plan> plan = parts_.plans.current();
  const ApprovalRules& rules = plan->approvals();
  if (!rules.people) return {};
  SALLYPORT_TRY(const json::object request, stored_request(parts_.records, request_id));
  for (const Vote& vote : state.counted()) {
    SALLYPORT_CHECK_OK(
        check_vote(rules, parts_.records, request_id, vote, text_or_empty(request, "binding")));
  }
  return {};
}

Result<HumanAnswer> Questions::recall(const HumanQuestion& asked, ReplayCount& count) {
  SALLYPORT_CHECK_OK(check(asked));
  const std::string kind(to_string(QuestionKind::Question));
  const std::string id = question_id(kind, count.trigger_id(), count.next(kind));
  const auto missing = [&](std::string_view why) {
    return fail(ErrorCode::NotFound, fmt::format("replay_missing_answer: {}", why), id,
                "replay_missing_answer");
  };
  SALLYPORT_TRY(const auto state, parts_.approvals.state(id));
  if (!state) return missing("that was not asked then");
  if (state->open()) return missing("no person has answered yet");
  SALLYPORT_TRY(const json::object request, stored_request(parts_.records, id));
  const auto member = [&](std::string_view name) { return text_or_empty(request, name); };
  // The stored question may be redacted; the binding covers the original.
  const Question same{.agent_id = asked.agent_id.empty() ? "runtime" : asked.agent_id,
                      .input = input_of(asked.text),
                      .policy_hash = member("policy_hash"),
                      .nonce = member("nonce")};
  if (binding_of(same) != member("binding")) return missing("another question was asked then");
  return answer_in(id, *state);
}

}  // namespace sallyport::core
