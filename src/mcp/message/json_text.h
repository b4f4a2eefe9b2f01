// JSON as received text. Values are found and replaced in place. Everything else keeps its bytes,
// its order of members and its numbers.
//
//   const std::string text = R"({"id":7,"params":{"n":1.50}})";
//   find(text, {"params", "n"});                           // "1.50", a part of `text`
//   edited(text, {{*find(text, {"id"}), "8"}});            // {"id":8,"params":{"n":1.50}}
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::mcp {

// Returns the value at a path of member names. The text may be unchecked: malformed JSON is
// searched as far as it goes, and nothing outside of it is read.
std::optional<std::string_view> find(std::string_view text,
                                     std::initializer_list<std::string_view> path);

// Members of an object in their order, names decoded. Empty for anything else.
std::vector<std::pair<std::string, std::string_view>> members(std::string_view object);
// The values of all members of this name among the first `most` members.
std::vector<std::string_view> values_named(std::string_view name, std::string_view object,
                                           std::size_t most);
// Elements of an array.
std::vector<std::string_view> elements(std::string_view array);

struct Edit {
  std::string_view where;  // a part of the text; an empty one is a place to insert at
  std::string with;
};
// Edits do not overlap.
std::string edited(std::string_view text, std::vector<Edit> edits);

// `object` with this member set, in its place or as the first one.
std::string with_member(std::string_view object, std::string_view name, std::string_view value);
std::string without_member(std::string_view object, std::string_view name);

// A text as JSON has it, in quotation marks.
std::string json_quoted(std::string_view text);

// The value of valid text, with each number that a double cannot hold as a string of its digits, so
// that guards and records see the exact number.
json::value exact_value(std::string_view text);

}  // namespace sallyport::mcp
