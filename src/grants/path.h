// Paths as grants compare them: by their text alone, cleaned up, whole segments at a time
// (CG-41..CG-44).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grants/selector.h"
#include "sallyport/json.h"

namespace sallyport::grants {

// Members that say what relative paths start from (CG-44).
inline constexpr auto kBaseKeys = std::to_array<std::string_view>({"cwd", "root"});

struct Path {
  std::string drive{};  // `c:`; empty where there is none
  std::vector<std::string> segments{};

  // True if the path is this one, or lies below it.
  bool covers(const Path& other) const;
  bool operator==(const Path&) const = default;
};

// Nothing for a path that is not absolute, or that the program that opens it may read in another
// way:
// `..` above the root, a NUL, a leading `~`, a `file:` of another host.
std::optional<Path> absolute_path(std::string_view text);

// The strings of an input that are paths where no selector names them (CG-41).
std::vector<std::string_view> path_leaves(const json::value& input);

class PathPrefix {
 public:
  // A prefix, or `{prefix, at:[selectors]}`; no value for any other form.
  static std::optional<PathPrefix> parse(const json::value& value);

  // There is at least one path in the input, and every one lies under the prefix.
  bool matches(const json::value& input) const;
  // Whatever this one lets pass, the other lets pass too.
  bool within(const PathPrefix& other) const;

 private:
  Path prefix_;
  bool selects_ = false;
  std::string at_;  // canonical text of the selectors
  std::vector<Selector> selectors_;
};

}  // namespace sallyport::grants
