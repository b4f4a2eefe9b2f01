// The conditions of a rule: a mapping of which all must hold for an effect (RU-14..RU-16).
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
  std::string path{};  // absolute, of `Path`

  // `InvalidInput`: neither an absolute path nor one of the words. `~/x` is below the home.
  static Result<FolderName> parse(std::string_view text);
  std::string text() const;
  bool operator==(const FolderName&) const = default;
};

// A host of `host`.
struct HostName {
  enum class Kind { Exact, Suffix, Private };
  Kind kind = Kind::Exact;
  std::string name{};  // as compared; of `Suffix` without `*.`

  static Result<HostName> parse(std::string_view text);
  Match matches(const effects::EffectHost& host) const;
  bool operator==(const HostName&) const = default;
};

// Empty and absent: nothing is asked.
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

// An effect with the forms of its path, which are found when they are first asked for.
class SeenEffect {
 public:
  SeenEffect(const effects::Effect& effect, const effects::FileView* files)
      : effect_(effect), files_(files) {}

  const effects::Effect& effect() const { return effect_; }
  // Of an effect with a path.
  const PathForms& forms() const;

 private:
  const effects::Effect& effect_;
  const effects::FileView* files_;
  mutable std::optional<PathForms> forms_;
};

// What conditions are put to: one call, for as long as it is decided. One thread.
class Scene {
 public:
  // `files` of the facts are not asked where the paths are on another machine.
  explicit Scene(const effects::CallFacts& facts);

  const effects::CallFacts& facts() const { return facts_; }
  const effects::FileView* files() const { return facts_.files; }

  // What does not depend on an effect.
  Match call_part(const Conditions& conditions) const;
  // `opaque_is_unknown`: in `when` of a restrictive rule, what is not yes of an opaque effect is
  // unknown (RU-55).
  Match effect_part(const Conditions& conditions, const SeenEffect& seen, Side side,
                    bool opaque_is_unknown) const;

  // No value: unknown.
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

// The workspace that counts: nothing where it would be everything a user has (RU-36).
std::vector<std::string> usable_workspace(std::vector<std::string> folders,
                                          const std::string& home);

// Does every effect and call that `narrow` holds for fulfil `wide` (RU-15)? Both are taken on the
// same side.
bool implies(const Conditions& narrow, const Conditions& wide);
bool implies(const std::vector<Conditions>& narrow, const std::vector<Conditions>& wide);

// The same conditions, each with one value in each list and with both answers where none is given:
// several rules may cover together what none of them covers alone. Lists that would become too many
// stay as they are.
std::vector<Conditions> in_pieces(const std::vector<Conditions>& list);

}  // namespace sallyport::rules
