// Which parts of an input the effects of a call are made of: the others may be unknown, and the
// effects are the same (WB-38).
#pragma once

#include <string>

#include "effects/tool_effects.h"

namespace sallyport::effects {

// False: whatever stands at that place of the input (a JSON Pointer), the effects stay the same.
bool may_depend_on(const CallFacts& facts, const ToolBook& book, const std::string& pointer);

}  // namespace sallyport::effects
