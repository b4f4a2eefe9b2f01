// The difference of two texts as a unified diff with three lines of context.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport::agent {

// Empty: the texts are equal. The result has about `limit` bytes at most; its last line says what
// was left out. Texts that are too long to compare are shown as removed and added.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view name,
                         std::size_t limit);

}  // namespace sallyport::agent
