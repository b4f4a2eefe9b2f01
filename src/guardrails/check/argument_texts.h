// The texts that a JSON value holds for a check: arguments of a call, or a result that is not a
// string.
//
//   const ArgumentTexts all = ArgumentTexts::of(arguments);
//   for (const ArgumentText& text : all.texts()) look_at(text.text, all.path(text));
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/document/argument_path.h"
#include "sallyport/json.h"

namespace sallyport::guardrails {

struct ArgumentText {
  std::string_view text;
  // Which string leaf of the value this is, counted from 0 in RFC 8785 order and alike in every
  // list of texts; nothing for other scalars and for the whole.
  std::optional<std::size_t> string_leaf{};
  std::optional<std::size_t> place{};  // for `ArgumentTexts::path`
};

// Refers to the value, which must live as long and not change.
class ArgumentTexts {
 public:
  // Every string leaf, decoded, in RFC 8785 order; last the RFC 8785 form of the whole (GR-32).
  static ArgumentTexts of(const json::value& value);
  // String leaves at and below the paths, other scalars there in RFC 8785 form, each once and in
  // RFC 8785 order (GR-33). Nothing where none of the paths exists; a path to an empty object or
  // list exists, and has no texts.
  static std::optional<ArgumentTexts> at(const json::value& value,
                                         std::span<const ArgumentPath> paths);

  ArgumentTexts(ArgumentTexts&&) = default;
  ArgumentTexts& operator=(ArgumentTexts&&) = default;

  const std::vector<ArgumentText>& texts() const { return texts_; }
  // JSON Pointer of the leaf; nothing for the whole.
  std::optional<std::string> path(const ArgumentText& text) const;

 private:
  friend class ArgumentWalk;

  // A node of the value. Pointers are spelt out only when asked for: with a long name above many
  // leaves, all of them together would be far larger than the value.
  struct Place {
    std::size_t parent = 0;
    std::string_view name{};  // of a member
    std::size_t index = 0;    // of an element
    bool member = false;
  };

  ArgumentTexts() = default;

  std::vector<ArgumentText> texts_;
  std::vector<Place> places_{Place{}};  // first the value itself
  std::deque<std::string> written_;     // texts that the value does not hold itself
};

// The value with these string leaves (by `ArgumentText::string_leaf`) replaced.
json::value with_leaves(const json::value& value,
                        const std::map<std::size_t, std::string>& replacements);

}  // namespace sallyport::guardrails
