// Where the tier of a call comes from, as a closed set. Records and reports have the word.
#pragma once

#include <optional>
#include <string_view>

#include "autonomy/tier_resolution.h"

namespace sallyport::app {

using TierSource = autonomy::Source;

// No value: no step of the policy gave the tier, as with `plan`, the tier of a program.
std::optional<TierSource> tier_source_from(std::string_view word);

}  // namespace sallyport::app
