// Texts that are neither a call nor a result. A prompt of the user passes the checks of `input`; a
// question of a tool server to people passes those of `tool_output`. A host cannot change these
// texts, so a check that would redact one stops it.
#pragma once

#include <memory>

#include "core/record/record_log.h"
#include "guardrails/check/guardrails.h"
#include "guards/guardrail_records.h"
#include "hook/decision.h"
#include "hook/event.h"

namespace sallyport::app {

struct TextRules {
  std::shared_ptr<const guardrails::Guardrails> guardrails;  // null: there are none
  std::string policy_hash;
  guards::Excerpts excerpts = guards::Excerpts::Withheld;
};

// Every hit is recorded when this returns.
Task<hook::Decision> judge_text(core::RecordLog& records, TextRules rules, std::string agent,
                                hook::Event event);

}  // namespace sallyport::app
