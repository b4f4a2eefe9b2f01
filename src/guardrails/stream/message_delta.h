// One step of a message, as a line of JSON: what `guard stream --channels` reads.
//
//   {"channel":"text","delta":"Let me look"}
//   {"channel":"tool_call","id":"c1","tool":"bash","delta":"{\"command\":"}
//   {"channel":"tool_call","id":"c1","done":true}
//   {"tokens":17}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "guardrails/stream/message_gate.h"
#include "sallyport/result.h"

namespace sallyport::guardrails {

struct MessageDelta {
  std::optional<Channel> channel{};  // no value: of a tool call, or only tokens
  std::string call{};                // of a tool call: its id
  std::string tool{};                // with the first delta of a call
  std::optional<std::string> delta{};
  bool done = false;     // the channel ends, the arguments are complete
  bool started = false;  // the call began to run
  std::uint64_t tokens = 0;
};

// `InvalidInput`: no such line; a member that does not belong there is an error too.
Result<MessageDelta> read_message_delta(std::string_view line);

}  // namespace sallyport::guardrails
