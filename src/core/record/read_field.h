// Fields that several of our shapes share: words of an enum, and open values that the ledger can
// hold.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/object_reader.h"
#include "sallyport/json.h"

namespace sallyport::core {

// One entry of the table that says how the enumerators of a closed set are written. Words are for
// JSON and people; the code compares enumerators.
template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

// Empty for a value that the table does not have.
template <class Words, class Enum>
std::string_view word_of(const Words& words, Enum value) {
  for (const Word<Enum>& word : words) {
    if (word.value == value) return word.text;
  }
  return {};
}

// No value for a word that the table does not have.
template <class Words>
auto enum_of(const Words& words, std::string_view text)
    -> std::optional<decltype(std::begin(words)->value)> {
  for (const auto& word : words) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

// The error names the value and the accepted words.
template <class Words>
auto read_word(ObjectReader& in, std::string_view name, const Words& accepted) {
  const std::string text = in.text(name);
  std::string listed;
  for (const auto& word : accepted) {
    if (word.text == text) return word.value;
    listed += fmt::format("{}`{}`", listed.empty() ? "" : ", ", word.text);
  }
  in.refuse(name, fmt::format("is `{:.60}`, it must be one of {}", text, listed));
  return std::begin(accepted)->value;
}

// Any JSON value that RFC 8785 bytes hold unchanged. Absent and `null` are the same where it is
// optional.
json::value read_any(ObjectReader& in, std::string_view name);
json::value read_optional_any(ObjectReader& in, std::string_view name);

}  // namespace sallyport::core
