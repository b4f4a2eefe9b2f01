// What a pattern of a check can match at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

enum class EntryReach : std::uint8_t { Nothing, Some, Everything };

// The reach of a pattern or an exception of this check.
EntryReach reach_of_pattern(const Check& check, const std::string& pattern);

// True if every text in which the check finds `entry` also contains one of `others`, read in the
// same way. False if this is not decided; with many others the search ends sooner.
bool is_covered(const Check& check, const std::string& entry,
                const std::vector<std::string>& others);

}  // namespace sallyport::guardrails
