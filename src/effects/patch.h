// The headers of a patch as coding agents write it (RU-30).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/effect.h"

namespace sallyport::effects {

// One effect for each header. A text without a readable one writes an unknown path.
std::vector<Effect> effects_of_patch(std::string_view text,
                                     const std::optional<std::string>& folder);

}  // namespace sallyport::effects
