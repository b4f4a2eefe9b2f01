// Wildcards for tool names: `*` is any run of characters, also none; all else stands for itself.
#pragma once

#include <string_view>

namespace sallyport::guardrails {

// True if the whole name matches. Case-sensitive (GR-29).
bool fits(std::string_view wildcard, std::string_view name);

}  // namespace sallyport::guardrails
