// Texts that are no call and no result: what somebody types passes the checks of `input`, what a
// tool server asks people those of `tool_output`. A host cannot change them, so what would have to
// be taken out stops them.
#pragma once

#include <memory>

#include "core/record/recorder.h"
#include "guardrails/guardrails.h"
#include "guards/guardrail_records.h"
#include "hook/decision.h"
#include "hook/event.h"

namespace sallyport::app {

struct TextRules {
  std::shared_ptr<const guardrails::Guardrails> guardrails;  // null: there are none
  std::string policy_hash;
  guards::Excerpts excerpts = guards::Excerpts::Withheld;
};

// Every hit is on record when this returns.
Task<hook::Decision> judge_text(core::Recorder& recorder, TextRules rules, std::string agent,
                                hook::Event event);

}  // namespace sallyport::app
