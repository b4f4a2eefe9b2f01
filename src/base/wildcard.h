// Wildcards for names: `*` is any run of characters, also none; all else stands for itself.
#pragma once

#include <string_view>

namespace sallyport {

// Does the whole name fit? Case-sensitive.
bool fits_wildcard(std::string_view wildcard, std::string_view name);

}  // namespace sallyport
