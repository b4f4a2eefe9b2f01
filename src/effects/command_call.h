// Calls of the command tools that only the table of AT-22 knows (RU-24).
#pragma once

#include <boost/json/object.hpp>

#include "effects/effect_maker.h"

namespace sallyport::effects {

// Adds the effects of the member `command`. The words under `args`, `arguments` or `argv` stand
// behind it. A member that may change what runs makes the call opaque.
void add_command_call(EffectMaker& maker, const json::object& input);

}  // namespace sallyport::effects
