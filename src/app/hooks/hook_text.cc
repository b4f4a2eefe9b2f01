#include "app/hooks/hook_text.h"

#include "base/try.h"
#include "core/record/finding.h"

namespace sallyport::app {

using hook::Decision;

Task<Decision> judge_text(core::RecordLog& records, TextRules rules, std::string agent,
                          hook::Event event) {
  const std::shared_ptr<const guardrails::Guardrails>& guardrails = rules.guardrails;
  const guardrails::Stage stage = event.kind == hook::Event::Kind::Prompt
                                      ? guardrails::Stage::Input
                                      : guardrails::Stage::ToolOutput;
  if (!guardrails || !guardrails->armed(stage)) co_return Decision::allow();
  const guardrails::Evaluation seen = guardrails->evaluate({.stage = stage, .text = event.text});
  const Subject subject{
      .policy_hash = rules.policy_hash, .session_id = event.session_id, .agent_id = agent};
  std::vector<core::Draft> drafts;
  for (Finding& finding : guards::findings_of(*guardrails, {seen}, rules.excerpts, std::nullopt)) {
    drafts.push_back(core::finding_row(std::move(finding), subject));
  }
  if (!drafts.empty()) {
    SALLYPORT_CO_CHECK_OK(co_await records.append(std::move(drafts), core::Urgency::Announces));
  }
  switch (seen.verdict) {
    case guardrails::Verdict::Allow:
      co_return Decision::allow();
    case guardrails::Verdict::Redact:
      co_return Decision::deny("the text holds what may not be sent (" +
                               guards::first_label(seen, guardrails::Action::Redact) +
                               "); take it out and send it again");
    case guardrails::Verdict::Block:
      co_return Decision::deny(seen.decision
                                   ? seen.decision->reason.value_or(seen.decision->replacement)
                                   : "the text is not allowed");
  }
  co_return Decision::deny("the text is not allowed");
}

}  // namespace sallyport::app
