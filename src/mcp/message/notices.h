// Answers for a client if the server's own answer may not be shown, or there is none.
#pragma once

#include <string>
#include <string_view>

#include "core/approval/attendant.h"
#include "sallyport/answer.h"

namespace sallyport::mcp {

// A result of `tools/call` for a call that was refused, failed on its way, was withheld or waits.
// It is a result and not a protocol error, so that the model reads it. `structured`: also as
// `structuredContent`. A tool with its own output schema cannot have that: clients check it against
// the schema, and accept a result without it only if `isError` is set. Its results are errors, and
// `_meta` has the same members under `sallyport`.
std::string notice_result(const Answer& answer, bool structured);
// For a call that still waits for a person: the client must make it again (AT-27, AP-35).
std::string pending_result(std::string_view tool, const core::WaitingCall& call, bool structured);
// For a call that could not be recorded: whether it ran, and the cause in one word. The text of the
// error names files and statements, which are nothing to the agent.
std::string unrecorded_sentence(const Error& error);
std::string unrecorded_result(const Error& error);

// The error object for methods whose results have no `isError`.
std::string notice_error(const Answer& answer);
// The error object for a name that does not exist: the protocol's error, with the id of the record.
std::string unknown_error(std::string_view why, const Answer& answer);

}  // namespace sallyport::mcp
