// The conditions of a rule. All of them must hold for an effect (RU-14..RU-16).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "effects/call_facts.h"
#include "effects/command_line.h"
#include "effects/effect.h"
#include "rules/argument.h"
#include "rules/paths.h"

namespace sallyport::rules {

// A folder of `inside` or `outside`.
struct FolderName {
  enum class Kind { Workspace, Temp, Home, Cwd, Path };
  Kind kind = Kind::Path;
  std::string path{};  // absolute; set for `Path`

  // Accepts an absolute path, `~/x`, or one of the words for folders; else `InvalidInput`.
  static Result<FolderName> parse(std::string_view text);
  std::string text() const;
  bool operator==(const FolderName&) const = default;
};

// A host of `host`.
struct HostName {
  enum class Kind { Exact, Suffix, Private };
  Kind kind = Kind::Exact;
  std::string name{};  // normalized for comparison; a `Suffix` without its `*.`

  static Result<HostName> parse(std::string_view text);
  Match matches(const effects::EffectHost& host) const;
  bool operator==(const HostName&) const = default;
};

// An empty or absent member is no condition.
struct Conditions {
  std::vector<std::string> agent{};
  std::vector<std::string> session{};
  std::vector<std::string> front{};
  std::optional<bool> interactive{};
  std::vector<std::string> server{};
  std::vector<std::string> tool{};
  std::vector<std::string> effect_class{};
  std::vector<Glob> path{};
  std::vector<FolderName> inside{};
  std::vector<FolderName> outside{};
  std::optional<bool> recursive{};
  std::optional<bool> opaque{};
  std::vector<HostName> host{};
  std::vector<effects::CommandPattern> command{};
  std::vector<Argument> args{};

  bool names_paths() const { return !path.empty() || !inside.empty() || !outside.empty(); }
};

// An effect with the forms of its path, which are computed on first use.
class SeenEffect {
 public:
  SeenEffect(const effects::Effect& effect, const effects::FileView* files)
      : effect_(effect), files_(files) {}

  const effects::Effect& effect() const { return effect_; }
  // The effect must have a path.
  const PathForms& forms() const;

 private:
  const effects::Effect& effect_;
  const effects::FileView* files_;
  mutable std::optional<PathForms> forms_;
};

// The call that conditions are evaluated for. It lives for one decision, on one thread.
class Scene {
 public:
  // `facts` must outlive it. Its `files` are null if the paths are on another machine.
  explicit Scene(const effects::CallFacts& facts);

  const effects::CallFacts& facts() const { return facts_; }
  const effects::FileView* files() const { return facts_.files; }

  // Evaluates the conditions that do not depend on an effect.
  Match call_part(const Conditions& conditions) const;
  // `opaque_is_unknown`: for an opaque effect, a No becomes Unknown. Set for `when` of a
  // restrictive rule (RU-55).
  Match effect_part(const Conditions& conditions, const SeenEffect& seen, Side side,
                    bool opaque_is_unknown) const;

  // No value: the folders are unknown.
  const RootFolders& folders(FolderName::Kind kind) const;
  const RootFolders& roots(Root root) const;

 private:
  Match path_part(const Conditions& conditions, const SeenEffect& seen, Side side) const;
  Match path_of(const Conditions& conditions, const SeenEffect& seen, Side side) const;
  Match inside_of(const std::vector<FolderName>& names, const PathForm& form, Side side) const;
  // Each folder that rules name is looked up once.
  const std::vector<PathForm>& forms_of_folder(const std::string& folder) const;
  Match command_of(const Conditions& conditions, const effects::Effect& effect, Side side) const;

  const effects::CallFacts& facts_;
  mutable std::optional<RootFolders> workspace_, temp_, home_, cwd_, data_, policy_;
  mutable std::map<std::string, std::vector<PathForm>, std::less<>> named_folders_;
  FindRoot find_root_;
};

// The workspace that counts. Empty if a folder of it would cover everything of a user (RU-36).
std::vector<std::string> usable_workspace(std::vector<std::string> folders,
                                          const std::string& home);

// True if `wide` holds for every call and effect that `narrow` holds for (RU-15). Both are
// evaluated on the same side.
bool implies(const Conditions& narrow, const Conditions& wide);
bool implies(const std::vector<Conditions>& narrow, const std::vector<Conditions>& wide);

// Splits conditions into ones with a single value in each list and with each missing answer as yes
// and as no. Several rules together may cover what none of them covers alone. A split that would
// give too many is not made.
std::vector<Conditions> in_pieces(const std::vector<Conditions>& list);

}  // namespace sallyport::rules
