// The dialects. Each has a source file of its name.
#pragma once

#include "hook/dialect.h"

namespace sallyport::hook {

const Dialect& claude_code();
const Dialect& codex();
const Dialect& gemini();
const Dialect& cursor();
const Dialect& copilot();

}  // namespace sallyport::hook
