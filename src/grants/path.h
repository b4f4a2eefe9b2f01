// How grants compare paths: by their cleaned text alone, in whole segments (CG-41..CG-44).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grants/selector.h"
#include "sallyport/json.h"

namespace sallyport::grants {

// Members with the base folder of relative paths (CG-44).
inline constexpr auto kBaseKeys = std::to_array<std::string_view>({"cwd", "root"});

struct Path {
  std::string drive{};  // `c:`; empty: none
  std::vector<std::string> segments{};

  // True if `other` is this path or lies below it.
  bool covers(const Path& other) const;
  bool operator==(const Path&) const = default;
};

// No value for a path that is not absolute, or that programs may read in another way: `..` above
// the root, a NUL, a leading `~`, a `file:` of another host.
std::optional<Path> absolute_path(std::string_view text);

// The strings of an input that count as paths if there is no selector (CG-41).
std::vector<std::string_view> path_leaves(const json::value& input);

class PathPrefix {
 public:
  // Reads a prefix or `{prefix, at:[selectors]}`. No value for any other form.
  static std::optional<PathPrefix> parse(const json::value& value);

  // True if the input has at least one path and every path lies under the prefix.
  bool matches(const json::value& input) const;
  // True if `other` matches every input that this prefix matches.
  bool within(const PathPrefix& other) const;

 private:
  Path prefix_;
  bool selects_ = false;
  std::string at_;  // canonical text of the selectors
  std::vector<Selector> selectors_;
};

}  // namespace sallyport::grants
