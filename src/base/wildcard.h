// Wildcards for names: `*` matches any run of characters, also an empty one.
#pragma once

#include <string_view>

namespace sallyport {

// True if the whole name matches. Case-sensitive.
bool fits_wildcard(std::string_view wildcard, std::string_view name);

}  // namespace sallyport
