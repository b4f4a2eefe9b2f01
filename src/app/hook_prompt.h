// What somebody types passes the checks of `input`. A host cannot change it, so what would have to
// be taken out stops it.
#pragma once

#include <memory>

#include "core/plan.h"
#include "guardrails/guardrails.h"
#include "guards/guardrail_records.h"
#include "hook/decision.h"
#include "hook/event.h"
#include "ledger/ledger.h"

namespace sallyport::app {

struct PromptSurroundings {
  std::string agent;
  std::shared_ptr<const core::Plan> policy;
  guards::Excerpts excerpts = guards::Excerpts::Withheld;
};

// Every hit is on record when this returns. `guardrails` may be null.
Result<hook::Decision> judge_prompt(ledger::Ledger& ledger,
                                    const std::shared_ptr<const guardrails::Guardrails>& guardrails,
                                    const hook::Event& event, const PromptSurroundings& around);

}  // namespace sallyport::app
