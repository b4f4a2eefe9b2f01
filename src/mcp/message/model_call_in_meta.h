// The id that a model gave a call, as its client says it in `_meta` (MP-61).
#pragma once

#include <string>

#include "mcp/message/message.h"

namespace sallyport::mcp {

// The id of a `tools/call`: `claudecode/toolUseId`, or a member of another client with one of the
// names `toolUseId`, `toolCallId` or `tool_call_id`. Empty: the client names none, or names two
// different ones.
std::string model_call_id(const Message& request);

}  // namespace sallyport::mcp
