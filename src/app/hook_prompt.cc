#include "app/hook_prompt.h"

#include <fmt/format.h>

#include "base/try.h"
#include "core/finding.h"

namespace sallyport::app {

using hook::Decision;

Result<Decision> judge_prompt(ledger::Ledger& ledger,
                              const std::shared_ptr<const guardrails::Guardrails>& guardrails,
                              const hook::Event& event, const PromptSurroundings& around) {
  if (!guardrails || !guardrails->armed(guardrails::Stage::Input)) return Decision::allow();
  const guardrails::Evaluation seen =
      guardrails->evaluate({.stage = guardrails::Stage::Input, .text = event.prompt});
  const Subject subject{.policy_hash = around.policy->hash(),
                        .session_id = event.session_id,
                        .agent_id = around.agent};
  std::vector<core::Draft> drafts;
  for (Finding& finding : guards::findings_of(*guardrails, {seen}, around.excerpts)) {
    drafts.push_back(core::finding_row(std::move(finding), subject));
  }
  if (!drafts.empty()) {
    SALLYPORT_CHECK_OK(ledger.append_blocking(std::move(drafts), core::Urgency::Announces));
  }
  switch (seen.verdict) {
    case guardrails::Verdict::Allow:
      return Decision::allow();
    case guardrails::Verdict::Redact:
      return Decision::deny("the prompt holds what may not be sent (" +
                            guards::first_label(seen, guardrails::Action::Redact) +
                            "); take it out and send it again");
    case guardrails::Verdict::Block:
      return Decision::deny(seen.decision
                                ? seen.decision->reason.value_or(seen.decision->replacement)
                                : "the prompt is not allowed");
  }
  return Decision::deny("the prompt is not allowed");
}

}  // namespace sallyport::app
