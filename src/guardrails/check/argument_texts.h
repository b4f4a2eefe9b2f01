// The texts of a JSON value that checks read: the arguments of a call, or a result that is not a
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
  // The number of the string leaf in the value, from 0 in RFC 8785 order, the same in every list of
  // texts. No value for other scalars and for the whole.
  std::optional<std::size_t> string_leaf{};
  std::optional<std::size_t> place{};  // for `ArgumentTexts::path`
};

// Refers to the value, which must outlive it and must not change.
class ArgumentTexts {
 public:
  // Every string leaf, decoded, in RFC 8785 order; last the RFC 8785 form of the value (GR-32).
  static ArgumentTexts of(const json::value& value);
  // String leaves at and below the paths, other scalars in RFC 8785 form, each once and in RFC 8785
  // order (GR-33). No value: none of the paths exists. A path to an empty object or list exists and
  // has no texts.
  static std::optional<ArgumentTexts> at(const json::value& value,
                                         std::span<const ArgumentPath> paths);

  ArgumentTexts(ArgumentTexts&&) = default;
  ArgumentTexts& operator=(ArgumentTexts&&) = default;

  const std::vector<ArgumentText>& texts() const { return texts_; }
  // The JSON Pointer of the leaf; no value for the whole.
  std::optional<std::string> path(const ArgumentText& text) const;

 private:
  friend class ArgumentWalk;

  // A node of the value. Pointers are built on demand: with a long name above many leaves, all of
  // them together would be far larger than the value.
  struct Place {
    std::size_t parent = 0;
    std::string_view name{};  // name of a member
    std::size_t index = 0;    // index of an element
    bool member = false;
  };

  ArgumentTexts() = default;

  std::vector<ArgumentText> texts_;
  std::vector<Place> places_{Place{}};  // the first is the value itself
  std::deque<std::string> written_;     // texts that the value does not hold itself
};

// Returns the value with these string leaves (by `ArgumentText::string_leaf`) replaced.
json::value with_leaves(const json::value& value,
                        const std::map<std::size_t, std::string>& replacements);

}  // namespace sallyport::guardrails
