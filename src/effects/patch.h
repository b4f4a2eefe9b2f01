// Reads the headers of patches in the format of coding agents (RU-30).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/effect.h"

namespace sallyport::effects {

// One effect for each header. A text without a readable header writes an unknown path.
std::vector<Effect> effects_of_patch(std::string_view text,
                                     const std::optional<std::string>& folder);

}  // namespace sallyport::effects
