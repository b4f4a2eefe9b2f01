// What the patterns of a check can find at all.
#pragma once

#include <cstdint>
#include <string>

#include "guardrails/document.h"

namespace sallyport::guardrails {

enum class EntryReach : std::uint8_t { Nothing, Some, Everything };

// Of a pattern or an exception of this check.
EntryReach reach_of_pattern(const Check& check, const std::string& pattern);

}  // namespace sallyport::guardrails
