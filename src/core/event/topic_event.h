// Events on topics, for programs that follow them: proposals, questions to people and their answers
// (LG-1, LG-7..LG-9).
//
//   SALLYPORT_TRY(Draft draft, topic_draft({.topic = "autonomy", .kind =
//   "autonomy.budget_exceeded",
//                                           .payload = {{"agent", "bot"}}}, governed));
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/record/draft.h"
#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/topic.h"

namespace sallyport::core {

inline constexpr std::string_view kAutonomyTopic = "autonomy";
// The cause of a refused commit: another process has just written its event on that topic.
inline constexpr std::string_view kAnnouncedBefore = "autonomy_told";
inline constexpr std::string_view kOutboxTopic = "trigger.outbox";
inline constexpr std::string_view kGuardrailsTopic = "guardrails";

// The four topics about people, and the kinds of their events.
namespace hitl {
inline constexpr std::string_view kQuestions = "hitl.questions";
inline constexpr std::string_view kApprovals = "hitl.approvals";
inline constexpr std::string_view kDualControl = "hitl.dual_control";
inline constexpr std::string_view kEscalations = "hitl.escalations";
inline constexpr std::string_view kQuestionAsked = "hitl.question_asked";
inline constexpr std::string_view kApprovalRequested = "hitl.approval_requested";
inline constexpr std::string_view kDualControlRequested = "hitl.dual_control_requested";
inline constexpr std::string_view kEscalationIssued = "hitl.escalation_issued";
inline constexpr std::string_view kResponseReceived = "hitl.response_received";
inline constexpr std::string_view kApprovalApproved = "hitl.approval_approved";
inline constexpr std::string_view kApprovalDenied = "hitl.approval_denied";
inline constexpr std::string_view kEscalationAccepted = "hitl.escalation_accepted";
inline constexpr std::string_view kDualControlExecuted = "hitl.dual_control_executed";
inline constexpr std::string_view kTimeout = "hitl.timeout";
}  // namespace hitl

// The subject of a governed event: headers that no caller may set (LG-7).
struct Governed {
  std::string agent{};
  std::string trace_id{};
  Autonomy autonomy_tier = Autonomy::ActWithApproval;
};

// `InvalidInput`: a header that callers may not set, no kind, or a payload over 65,535 bytes
// (LG-11). The topic's name is checked by the ledger.
Result<Draft> topic_draft(TopicEvent event, const std::optional<Governed>& governed = {});

// The same for an event of a program or of one of its hooks. `InvalidInput` also for a topic that
// the product itself writes.
Result<Draft> program_draft(TopicEvent event, const Subject& subject);

// `dispatch_proposed` on `trigger.outbox` (LG-8).
struct Proposal {
  Governed about{};
  std::string action{};
  std::string tool{};
  std::string effect_class{};
  json::value input{};
  std::optional<std::string> replay_of_event_id{};
  std::string call_id{};
  std::string approval_request_id{};  // empty: there is none
};
Draft dispatch_proposed(const Proposal& proposal);

}  // namespace sallyport::core
