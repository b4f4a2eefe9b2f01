// The known word that a writer probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sallyport {

// The known word with the fewest inserted, removed, exchanged or swapped letters; nothing when all
// are too far away to be a slip.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

// `, did you mean `x``, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace sallyport
