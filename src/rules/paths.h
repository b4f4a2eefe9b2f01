// How rules compare paths: in two forms, by whole segments, folded or byte by byte (RU-32..RU-42).
//
//   const PathForms forms = forms_of(effect_path, files);
//   SALLYPORT_TRY(const Glob glob, Glob::parse("**/.env"));
//   glob.matches({.path = forms.forms[0]}, find_root);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "effects/command_line.h"
#include "effects/effect.h"
#include "effects/file_view.h"
#include "sallyport/result.h"

namespace sallyport::rules {

using effects::Match;

constexpr Match both(Match a, Match b) {
  return a < b ? a : b;
}
constexpr Match either(Match a, Match b) {
  return a < b ? b : a;
}
constexpr Match negated(Match a) {
  return a == Match::Yes ? Match::No : a == Match::No ? Match::Yes : Match::Unknown;
}
constexpr Match match_of(bool holds) {
  return holds ? Match::Yes : Match::No;
}

// The direction in which a condition errs. `Wide`: `when` of a restrictive rule and `unless` of an
// `allow` rule. `Narrow`: the other two.
enum class Side { Wide, Narrow };
constexpr Side reversed(Side side) {
  return side == Side::Wide ? Side::Narrow : Side::Wide;
}

// The segments of an absolute path, unchanged and folded (RU-38).
struct PathForm {
  std::vector<std::string> segments{};
  std::vector<std::string> folded{};
  bool plain = false;  // folding changes nothing

  static PathForm of(std::string_view absolute);
  std::string text() const;
  bool operator==(const PathForm&) const = default;
};

// Applies NFC and case folding, and drops dots and blanks at the end.
std::string folded_segment(std::string_view segment);

struct PathForms {
  bool unknown = false;
  bool below = false;             // means some path below it (RU-40)
  bool resolved = false;          // there are two forms
  std::vector<PathForm> forms{};  // written, then resolved

  bool operator==(const PathForms&) const = default;
};

// `files` is null if the files are on another machine (RU-42).
PathForms forms_of(const effects::EffectPath& path, const effects::FileView* files);

// Both forms of a folder that a condition names.
std::vector<PathForm> folder_forms(const std::string& folder, const effects::FileView* files);

// True if `path` is one of the folders or lies below one.
bool is_inside(const PathForm& path, std::span<const PathForm> folders, Side side);

// True for `/proc/self/root`, `/proc/7/cwd`, `/dev/fd`: links that differ between processes.
bool has_magic_link(std::span<const std::string> segments);

// The features of a path: one bit for each of its names and one for its last letter. Names with the
// same hash share a bit.
std::uint64_t features_of(const PathForm& form);

// The beginning of a glob.
enum class Root { Absolute, Home, Anywhere, Workspace, Cwd, Data, Policy };

// The folders of a variable. No value: they are unknown.
using RootFolders = std::optional<std::vector<PathForm>>;
using FindRoot = std::function<const RootFolders&(Root)>;

// A pattern for paths (RU-37).
class Glob {
 public:
  // `InvalidInput`: the text does not begin with a known root.
  static Result<Glob> parse(std::string_view text);

  // `changes_below`: a recursive write or delete, which also reaches paths below `path` (RU-39).
  // `below`: some path below `path` is meant, not `path` itself (RU-40).
  struct Query {
    const PathForm& path;
    bool changes_below = false;
    bool below = false;
    Side side = Side::Wide;
  };
  Match matches(const Query& query, const FindRoot& roots) const;

  // True if this glob matches every path that `other` matches. False if that is unknown.
  bool covers(const Glob& other) const;

  // A feature of every path that this glob matches. Paths below a match (RU-39, RU-40) may lack it.
  // No value: none is known.
  std::optional<std::uint64_t> feature() const;

  const std::string& text() const { return text_; }
  Root root() const { return root_; }
  bool operator==(const Glob& other) const { return text_ == other.text_; }

 private:
  Match under(const PathForm* base, const Query& query) const;

  std::string text_;
  Root root_ = Root::Absolute;
  std::vector<std::string> segments_;  // after the root
  std::vector<std::string> folded_;
  bool plain_ = false;  // folding changes nothing
};

}  // namespace sallyport::rules
