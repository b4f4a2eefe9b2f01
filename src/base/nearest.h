// Finds the known word that a misspelled one probably stands for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sallyport {

// The known word with the fewest inserted, removed, replaced or swapped letters. No value if no
// known word is close enough.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

// Returns `, did you mean `x``, or an empty text.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace sallyport
