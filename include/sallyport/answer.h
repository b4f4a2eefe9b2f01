// What the caller of a tool gets, after its record is durable.
//
//   const Result<Answer> answer = engine->call(call);
//   if (!answer) return;                                      // nothing may be shown
//   std::cout << answer->result.output << '\n';               // "Blocked: ..." of a refused call
//   if (answer->effect == EffectState::Unknown) ask_a_person(answer->call_id);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/continuation.h"
#include "sallyport/envelope.h"
#include "sallyport/outcome.h"

namespace sallyport {

struct Answer {
  std::string call_id{};
  Outcome outcome{};
  EffectState effect = EffectState::None;
  ToolResult result{};  // what may be shown, refusals included
  Envelope released{};  // the same as it passed the second door; an error where nothing did
  // The tool-audit record: the terminal one, or `requires_confirmation` of a call that waits.
  std::uint64_t sequence = 0;
  std::string record_id{};
  std::string approval_id{};             // of the question that was asked about it, if any
  std::optional<PendingCall> pending{};  // of a call that waits: what was asked about
  std::string rule{};     // of the policy that refused the call or asks about it; empty: none did
  std::string message{};  // of that rule
};

}  // namespace sallyport
