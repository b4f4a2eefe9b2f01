// What a client reads where the server's own answer may not be shown, or there is none.
#pragma once

#include <string>

#include "sallyport/answer.h"
#include "sallyport/classification.h"

namespace sallyport::mcp {

// A result of `tools/call` for a call that was refused, failed on its way, was withheld or waits.
// It is a result and no protocol error, so that the model reads it. `structured`: also as
// `structuredContent`, which a tool with an output schema of its own cannot have.
std::string notice_result(const Answer& answer, Autonomy autonomy, bool structured);
// The same where the call could not even be recorded.
std::string unrecorded_result(const Error& error);

// The error object for methods whose results have no `isError`.
std::string notice_error(const Answer& answer);

}  // namespace sallyport::mcp
