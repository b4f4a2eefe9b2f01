#include "core/approval/approval_drafts.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/bound_input.h"
#include "core/approval/live_questions.h"
#include "core/event/topic_event.h"
#include "core/plan/budgets.h"

namespace sallyport::core {

namespace {

std::string queue_of(std::optional<QuestionKind> kind) {
  if (kind == QuestionKind::Question) return std::string(hitl::kQuestions);
  return std::string(kind == QuestionKind::DualControl ? hitl::kDualControl : hitl::kApprovals);
}

std::string asked_event(QuestionKind kind) {
  if (kind == QuestionKind::Question) return std::string(hitl::kQuestionAsked);
  return std::string(kind == QuestionKind::DualControl ? hitl::kDualControlRequested
                                                       : hitl::kApprovalRequested);
}

// The payload is small and our own, so it always fits.
Draft event_about(const json::object& request, std::string kind, json::object payload) {
  const std::string queue = queue_of(kind_of(request));
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
  draft->subject.set(&Subject::call_id, text_or_empty(request, "call_id"));
  return std::move(*draft);
}

Subject subject_of_request(const json::object& request) {
  return {.call_id = text_or_empty(request, "call_id"),
          .session_id = text_or_empty(request, "session_id"),
          .agent_id = text_or_empty(request, "agent_id"),
          .server = text_or_empty(request, "server"),
          .tool_name = text_or_empty(request, "tool_name"),
          .trace_id = text_or_empty(request, "trace_id")};
}

std::vector<Draft> with_event(Draft event, Draft entry) {
  std::vector<Draft> drafts;
  drafts.push_back(std::move(event));
  drafts.push_back(std::move(entry));
  return drafts;
}

// The body of a decision, without its reason.
json::object decision_body(const std::string& approval_id, const ApprovalState& state,
                           const Closing& closing, WallTime now) {
  const bool approved = closing.status == ApprovalStatus::Approved;
  json::array reviewers;
  json::array signatures;
  if (approved || closing.status == ApprovalStatus::Denied) {
    for (const Vote& vote : state.counted()) {
      reviewers.emplace_back(vote.by);
      signatures.push_back(
          json::object{{"reviewer", vote.by}, {"signed_at", vote.at}, {"signature", vote.proof()}});
    }
  }
  if (!closing.by.empty()) reviewers.emplace_back(closing.by);
  return {{"record", "approval_decision"},
          {"request_id", approval_id},
          {"state", to_string(closing.status)},
          {"approved", approved},
          {"reviewers", std::move(reviewers)},
          {"decided_at", rfc3339(now)},
          {"door", closing.door},
          {"signatures", std::move(signatures)}};
}

}  // namespace

std::vector<Draft> question_drafts(const Question& question, QuestionTerms terms,
                                   const SharedSubject& subject,
                                   const std::vector<HiddenPart>& hidden) {
  Draft draft{.kind = Kind::Approval, .subject = subject, .body = request_json(question)};
  Draft event = event_about(draft.body.open(), asked_event(question.kind),
                            {{"request_id", question.approval_id},
                             {"kind", to_string(question.kind)},
                             {"call_id", question.call_id},
                             {"tool_name", question.tool},
                             {"trace_id", question.trace_id},
                             {"deadline", question.expires_at}});
  draft.body["record"] = "approval_request";
  draft.body["state"] = "pending";
  draft.body["description"] = question.description;
  draft.body["call_digest"] = question.call_digest;
  if (!hidden.empty()) draft.body["hidden"] = hidden_json(hidden);
  if (!question.rules.empty()) draft.body["rules"] = question.rules;
  if (question.reason_required) draft.body["reason_required"] = true;
  if (question.needs_human) draft.body["needs_human"] = true;
  if (!question.folder.empty()) draft.body["folder"] = question.folder;
  if (!question.on_behalf_of.empty()) draft.body["on_behalf_of"] = question.on_behalf_of;
  const ApprovalState pending{.call_id = question.call_id,
                              .call_digest = question.call_digest,
                              .expires_at = from_rfc3339(question.expires_at).value_or(WallTime{}),
                              .use_within = terms.use_within,
                              .required = question.approvers_required,
                              .later = std::move(terms.later),
                              .reason_required = question.reason_required,
                              .needs_human = question.needs_human,
                              .on_behalf_of = question.on_behalf_of};
  draft.facts.push_back(pending.fact(question.approval_id));
  draft.facts.push_back(live_questions::opened(question.approval_id));
  draft.facts.push_back({std::string(kRequestSpace), question.approval_id, "", true});
  return with_event(std::move(event), std::move(draft));
}

Draft refused_draft(const std::string& approval_id, const Vote& vote, std::string_view cause,
                    const json::object& request) {
  return {.kind = Kind::Approval,
          .subject = subject_of_request(request),
          .body = {{"record", "approval_response_refused"},
                   {"request_id", approval_id},
                   {"reviewer", vote.by},
                   {"approved", vote.approved},
                   {"responded_at", vote.at},
                   {"door", vote.door},
                   {"cause", cause}}};
}

std::vector<Draft> response_drafts(const std::string& approval_id, const Reply& reply,
                                   const Vote& vote, const json::object& request) {
  Draft draft{.kind = Kind::Approval,
              .subject = subject_of_request(request),
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
  Draft event = event_about(request, std::string(hitl::kResponseReceived),
                            {{"request_id", approval_id},
                             {"reviewer", vote.by},
                             {"approved", vote.approved},
                             {"trace_id", request.at("trace_id")}});
  return with_event(std::move(event), std::move(draft));
}

std::vector<Draft> passed_on_drafts(const std::string& approval_id,
                                    const std::vector<std::string>& to, const Reply& by,
                                    const json::object& request) {
  Draft draft{.kind = Kind::Approval,
              .subject = subject_of_request(request),
              .body = {{"record", "approval_escalated"},
                       {"request_id", approval_id},
                       {"reviewer", by.by},
                       {"escalated_to", json::value_from(to)},
                       {"binding", request.at("binding")},
                       {"deadline", request.at("deadline")},
                       {"door", by.door}}};
  if (!by.reason.empty()) draft.body["reason"] = by.reason;
  Draft event = event_about(request, std::string(hitl::kEscalationIssued),
                            {{"request_id", approval_id},
                             {"escalated_to", json::value_from(to)},
                             {"trace_id", request.at("trace_id")}});
  return with_event(std::move(event), std::move(draft));
}

std::vector<Draft> decision_drafts(const std::string& approval_id, ApprovalState& state,
                                   const Closing& closing, const json::object& request,
                                   WallTime now) {
  const bool approved = closing.status == ApprovalStatus::Approved;
  Draft draft{.kind = Kind::Approval,
              .subject = subject_of_request(request),
              .body = decision_body(approval_id, state, closing, now)};
  if (!closing.reason.empty()) draft.body["reason"] = closing.reason;
  state.status = closing.status;
  if (approved) state.expires_at = now + state.use_within;
  draft.facts.push_back(state.fact(approval_id));
  if (!live_questions::is_live(state)) {
    live_questions::add_done(draft.facts, approval_id, state.status);
  }
  draft.facts.push_back(no_kept_input(approval_id));
  // A refused call frees what it held, because its caller may never return (CG-50).
  if (!approved && !state.call_id.empty()) {
    draft.changes.push_back(budgets::reverse(state.call_id));
  }
  std::vector<Draft> drafts;
  if ((approved || closing.status == ApprovalStatus::Denied) && !is_question(request)) {
    drafts.push_back(event_about(
        request, std::string(approved ? hitl::kApprovalApproved : hitl::kApprovalDenied),
        {{"request_id", approval_id}, {"trace_id", request.at("trace_id")}}));
  } else if (closing.status == ApprovalStatus::Expired) {
    drafts.push_back(event_about(request, std::string(hitl::kTimeout),
                                 {{"request_id", approval_id},
                                  {"kind", request.at("kind")},
                                  {"trace_id", request.at("trace_id")},
                                  {"timed_out_at", rfc3339(now)}}));
  }
  drafts.push_back(std::move(draft));
  return drafts;
}

}  // namespace sallyport::core
