// Paths as rules compare them: in two forms, by whole segments, folded or byte by byte
// (RU-32..RU-42).
//
//   const PathForms forms = forms_of(effect_path, files);
//   SALLYPORT_TRY(const Glob glob, Glob::parse("**/.env"));
//   glob.matches(forms.forms[0], {}, Side::Wide);
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

// To which side a condition errs. `Wide`: `when` of a restrictive rule, `unless` of an `allow`
// rule. `Narrow`: the other two.
enum class Side { Wide, Narrow };
constexpr Side reversed(Side side) {
  return side == Side::Wide ? Side::Narrow : Side::Wide;
}

// An absolute path in segments, as it is and folded (RU-38).
struct PathForm {
  std::vector<std::string> segments{};
  std::vector<std::string> folded{};
  bool plain = false;  // folding changes nothing

  static PathForm of(std::string_view absolute);
  std::string text() const;
  bool operator==(const PathForm&) const = default;
};

// NFC and case folding; dots and blanks at the end do not count.
std::string folded_segment(std::string_view segment);

struct PathForms {
  bool unknown = false;
  bool below = false;             // some path below it (RU-40)
  bool resolved = false;          // there are two forms
  std::vector<PathForm> forms{};  // written, then resolved

  bool operator==(const PathForms&) const = default;
};

// `files` is null where they are on another machine (RU-42).
PathForms forms_of(const effects::EffectPath& path, const effects::FileView* files);

// Both forms of a folder that a condition names.
std::vector<PathForm> folder_forms(const std::string& folder, const effects::FileView* files);

// True if it is one of the folders, or lies below one.
bool is_inside(const PathForm& path, std::span<const PathForm> folders, Side side);

// `/proc/self/root`, `/proc/7/cwd`, `/dev/fd`: links that mean another file to every process.
bool has_magic_link(std::span<const std::string> segments);

// The features of a path: one bit for each of its names and for its last letter. A bit stands for
// all of one hash.
std::uint64_t features_of(const PathForm& form);

// What a glob begins with.
enum class Root { Absolute, Home, Anywhere, Workspace, Cwd, Data, Policy };

// The folders of a variable. No value: they are unknown.
using RootFolders = std::optional<std::vector<PathForm>>;
using FindRoot = std::function<const RootFolders&(Root)>;

// RU-37.
class Glob {
 public:
  // `InvalidInput`: it begins with something else.
  static Result<Glob> parse(std::string_view text);

  // `changes_below`: a recursive write or delete, which reaches what lies below the path (RU-39).
  // `below`: some path below it is meant, and not it (RU-40).
  struct Query {
    const PathForm& path;
    bool changes_below = false;
    bool below = false;
    Side side = Side::Wide;
  };
  Match matches(const Query& asked, const FindRoot& roots) const;

  // True if every path that the other matches matches this one. False if that is unknown.
  bool covers(const Glob& other) const;

  // A feature that every path has which it matches, and each path below one (RU-39, RU-40) may
  // lack. No value: none is known.
  std::optional<std::uint64_t> feature() const;

  const std::string& text() const { return text_; }
  Root root() const { return root_; }
  bool operator==(const Glob& other) const { return text_ == other.text_; }

 private:
  Match under(const PathForm* base, const Query& asked) const;

  std::string text_;
  Root root_ = Root::Absolute;
  std::vector<std::string> segments_;  // behind the root
  std::vector<std::string> folded_;
  bool plain_ = false;  // folding changes nothing
};

}  // namespace sallyport::rules
