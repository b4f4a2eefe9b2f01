// The answer to a call. The caller receives it after the record of the call is durable.
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

// A value: how the call ended, what may be shown, and where its record is.
struct Answer {
  std::string call_id{};
  Outcome outcome{};
  EffectState effect = EffectState::None;
  ToolResult result{};  // what may be shown; a refused call has the refusal here
  Envelope released{};  // `result` as the result guards released it; an error if they released none
  // Position and id of the tool-audit record: the terminal record, or the record
  // `requires_confirmation` of a call that waits for a person.
  std::uint64_t sequence = 0;
  std::string record_id{};
  std::string approval_id{};             // the question about this call; empty: there was none
  std::optional<PendingCall> pending{};  // set while the call waits: the call as a person sees it
  std::string rule{};     // the policy rule that refused the call or asks about it; empty: none
  std::string message{};  // the message of that rule
};

}  // namespace sallyport
