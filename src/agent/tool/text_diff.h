// The difference of two texts, as people read it: unified, three lines of context.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport::agent {

// Empty: they are equal. Not much longer than `limit` bytes; its last line says what was left out.
// Texts too long to be compared line by line are shown as taken out and put in.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view name,
                         std::size_t limit);

}  // namespace sallyport::agent
