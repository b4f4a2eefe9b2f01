// Names parts of a tool's arguments: a JSON Pointer in which the segment `*` is any one segment.
//
//   ArgumentPath::read("/items/*/sql");  // "sql" of every element of "items"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::guardrails {

struct ArgumentPath {
  std::vector<std::optional<std::string>> segments;  // decoded; no value: any segment

  // No value: the text does not begin with `/`, or has a `~` that is neither `~0` nor `~1`.
  static std::optional<ArgumentPath> read(std::string_view text);

  bool operator==(const ArgumentPath&) const = default;
};

}  // namespace sallyport::guardrails
