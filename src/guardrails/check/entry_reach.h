// What the patterns of a check can find at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

enum class EntryReach : std::uint8_t { Nothing, Some, Everything };

// Of a pattern or an exception of this check.
EntryReach reach_of_pattern(const Check& check, const std::string& pattern);

// Does every text in which the check finds `entry` hold one of `others`, read in the same way?
// False where that is not decided; with many others the search ends sooner.
bool is_covered(const Check& check, const std::string& entry,
                const std::vector<std::string>& others);

}  // namespace sallyport::guardrails
