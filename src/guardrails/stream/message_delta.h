// One step of a message as a line of JSON, as `guard stream --channels` reads it.
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
  std::optional<Channel> channel{};  // no value: a tool call, or only tokens
  std::string call{};                // id of a tool call
  std::string tool{};                // in the first delta of a call
  std::optional<std::string> delta{};
  bool done = false;     // the channel ends, the arguments are complete
  bool started = false;  // the call began to run
  std::uint64_t tokens = 0;
};

// `InvalidInput`: not such a line, or a member that does not belong there.
Result<MessageDelta> read_message_delta(std::string_view line);

}  // namespace sallyport::guardrails
