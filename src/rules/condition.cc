#include "rules/condition.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wildcard.h"
#include "effects/host.h"
#include "grants/host.h"

namespace sallyport::rules {

namespace {

using effects::CommandPattern;
using effects::Effect;

struct FolderWord {
  std::string_view word;
  FolderName::Kind kind;
};
constexpr FolderWord kWords[] = {{"workspace", FolderName::Kind::Workspace},
                                 {"temp", FolderName::Kind::Temp},
                                 {"home", FolderName::Kind::Home},
                                 {"cwd", FolderName::Kind::Cwd}};

bool is_agent(std::string_view name, std::string_view agent) {
  return agent.starts_with(name) && (agent.size() == name.size() || agent[name.size()] == '/');
}

template <class List, class Fits>
bool any(const List& list, Fits fits) {
  return list.empty() || std::ranges::any_of(list, fits);
}

bool is_change(const Effect& effect) {
  return effect.recursive && effect.effect_class != "fs.read" && effect.effect_class != "none";
}

void add_forms(std::vector<PathForm>& all, const std::string& folder,
               const effects::FileView* files) {
  for (PathForm& form : folder_forms(folder, files)) all.push_back(std::move(form));
}

RootFolders forms_or_unknown(const std::string& folder, const effects::FileView* files) {
  if (!folder.starts_with('/')) return std::nullopt;
  return folder_forms(folder, files);
}

}  // namespace

Result<FolderName> FolderName::parse(std::string_view text) {
  for (const FolderWord& known : kWords) {
    if (text == known.word) return FolderName{known.kind, {}};
  }
  const bool at_home = text == "~" || text.starts_with("~/");
  if ((!text.starts_with('/') && !at_home) ||
      text.find_first_of("*?\0") != std::string_view::npos) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{:.200}` is neither an absolute folder nor `workspace`, `temp`, "
                            "`home` or `cwd`; use `path` for globs",
                            text));
  }
  return FolderName{Kind::Path, std::string(text)};
}

std::string FolderName::text() const {
  for (const FolderWord& known : kWords) {
    if (kind == known.kind) return std::string(known.word);
  }
  return path;
}

Result<HostName> HostName::parse(std::string_view text) {
  if (text == "private") return HostName{Kind::Private, {}};
  if (text.starts_with("*.")) {
    const std::optional<grants::Host> suffix = grants::glob_suffix(text);
    if (suffix) return HostName{Kind::Suffix, suffix->name};
  } else if (text.find('/') == std::string_view::npos && text.find('@') == std::string_view::npos) {
    const effects::EffectHost host = effects::host_from(text);
    if (!host.unknown) return HostName{Kind::Exact, host.text};
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("`{:.200}` is neither a host, `*.` and a domain, nor `private`", text));
}

Match HostName::matches(const effects::EffectHost& host) const {
  if (host.unknown) return Match::Unknown;
  switch (kind) {
    case Kind::Exact:
      return match_of(host.text == name);
    case Kind::Suffix:
      return match_of(host.text.size() > name.size() + 1 && host.text.ends_with(name) &&
                      host.text[host.text.size() - name.size() - 1] == '.');
    case Kind::Private:
      return match_of(effects::is_private(host));
  }
  return Match::Unknown;
}

const PathForms& SeenEffect::forms() const {
  if (!forms_) forms_ = forms_of(*effect_.path, files_);
  return *forms_;
}

Scene::Scene(const effects::CallFacts& facts)
    : facts_(facts), find_root_([this](Root root) -> const RootFolders& { return roots(root); }) {}

const RootFolders& Scene::folders(FolderName::Kind kind) const {
  static const RootFolders kUnknown;
  switch (kind) {
    case FolderName::Kind::Workspace:
      if (!workspace_) {
        const std::vector<std::string> usable =
            usable_workspace(facts_.workspace, facts_.machine.home);
        workspace_.emplace();
        if (!usable.empty()) workspace_->emplace();
        for (const std::string& folder : usable) add_forms(**workspace_, folder, files());
      }
      return *workspace_;
    case FolderName::Kind::Temp:
      if (!temp_) {
        temp_.emplace(std::vector<PathForm>());
        add_forms(**temp_, "/tmp", files());
        add_forms(**temp_, "/var/tmp", files());
        for (const std::string& folder : facts_.machine.temp) {
          // A `TMPDIR` of `/` must not make everything temporary.
          if (!usable_workspace({folder}, facts_.machine.home).empty()) {
            add_forms(**temp_, folder, files());
          }
        }
      }
      return *temp_;
    case FolderName::Kind::Home:
      return roots(Root::Home);
    case FolderName::Kind::Cwd:
      return roots(Root::Cwd);
    case FolderName::Kind::Path:
      break;
  }
  return kUnknown;
}

const RootFolders& Scene::roots(Root root) const {
  static const RootFolders kUnknown;
  static const RootFolders kNone = std::vector<PathForm>();
  const auto kept = [&](std::optional<RootFolders>& slot,
                        const std::string& folder) -> const RootFolders& {
    if (!slot) slot = forms_or_unknown(folder, files());
    return *slot;
  };
  switch (root) {
    case Root::Workspace:
      return folders(FolderName::Kind::Workspace);
    case Root::Home:
      return kept(home_, facts_.machine.home);
    case Root::Cwd:
      return kept(cwd_, facts_.cwd.value_or(""));
    case Root::Data:
      return facts_.machine.data.empty() ? kNone : kept(data_, facts_.machine.data);
    case Root::Policy:
      return facts_.machine.policy.empty() ? kNone : kept(policy_, facts_.machine.policy);
    case Root::Absolute:
    case Root::Anywhere:
      break;
  }
  return kUnknown;
}

Match Scene::call_part(const Conditions& conditions) const {
  const Call& call = facts_.call;
  const auto is = [](std::string_view wanted) {
    return [wanted](const std::string& name) { return name == wanted; };
  };
  const bool named = any(conditions.agent,
                         [&](const std::string& name) { return is_agent(name, call.agent_id); }) &&
                     any(conditions.session, is(call.session_id)) &&
                     any(conditions.front, is(facts_.front)) &&
                     any(conditions.server, is(call.server)) &&
                     any(conditions.tool,
                         [&](const std::string& name) { return fits_wildcard(name, call.tool); }) &&
                     (!conditions.interactive || *conditions.interactive == facts_.interactive);
  if (!named) return Match::No;
  Match found = Match::Yes;
  for (const Argument& argument : conditions.args) found = both(found, argument.matches(call));
  return found;
}

const std::vector<PathForm>& Scene::forms_of_folder(const std::string& folder) const {
  const auto known = named_folders_.find(folder);
  if (known != named_folders_.end()) return known->second;
  return named_folders_.emplace(folder, folder_forms(folder, files())).first->second;
}

Match Scene::inside_of(const std::vector<FolderName>& names, const PathForm& form,
                       Side side) const {
  Match found = Match::No;
  for (const FolderName& name : names) {
    if (name.kind == FolderName::Kind::Path) {
      std::string below_home;
      const bool at_home = name.path.starts_with('~');
      if (at_home) {
        if (facts_.machine.home.empty()) {
          found = either(found, Match::Unknown);
          continue;
        }
        below_home = facts_.machine.home + name.path.substr(1);
      }
      const std::string& folder = at_home ? below_home : name.path;
      found = either(found, match_of(is_inside(form, forms_of_folder(folder), side)));
      continue;
    }
    const RootFolders& known = folders(name.kind);
    found = either(found, known ? match_of(is_inside(form, *known, side)) : Match::Unknown);
  }
  return found;
}

// On the wide side one form is enough; on the narrow side all must hold (RU-33).
template <class Holds>
static Match over_forms(const PathForms& forms, Side side, Holds holds) {
  if (forms.unknown) return Match::Unknown;
  Match found = side == Side::Wide ? Match::No : Match::Yes;
  for (const PathForm& form : forms.forms) {
    found = side == Side::Wide ? either(found, holds(form)) : both(found, holds(form));
  }
  return found;
}

Match Scene::path_of(const Conditions& conditions, const SeenEffect& seen, Side side) const {
  const PathForms& forms = seen.forms();
  const bool change = side == Side::Wide && is_change(seen.effect());
  return over_forms(forms, side, [&](const PathForm& form) {
    Match found = Match::No;
    for (const Glob& glob : conditions.path) {
      found = either(
          found,
          glob.matches({.path = form, .changes_below = change, .below = forms.below, .side = side},
                       find_root_));
      if (found == Match::Yes) break;
    }
    return found;
  });
}

Match Scene::path_part(const Conditions& conditions, const SeenEffect& seen, Side side) const {
  Match found = Match::Yes;
  if (!conditions.path.empty()) found = both(found, path_of(conditions, seen, side));
  if (!conditions.inside.empty()) {
    found = both(found, over_forms(seen.forms(), side, [&](const PathForm& form) {
                   return inside_of(conditions.inside, form, side);
                 }));
  }
  if (!conditions.outside.empty()) {
    found = both(found, over_forms(seen.forms(), side, [&](const PathForm& form) {
                   return negated(inside_of(conditions.outside, form, reversed(side)));
                 }));
  }
  return found;
}

Match Scene::command_of(const Conditions& conditions, const Effect& effect, Side side) const {
  if (!effect.command) return Match::No;
  Match found = Match::No;
  for (const CommandPattern& pattern : conditions.command) {
    found = either(
        found, effects::matches(pattern, *effect.command, side == Side::Wide, facts_.workspace));
    if (found == Match::Yes) break;
  }
  return found;
}

Match Scene::effect_part(const Conditions& conditions, const SeenEffect& seen, Side side,
                         bool opaque_is_unknown) const {
  const Effect& effect = seen.effect();
  const bool doubted = opaque_is_unknown && effect.opaque;
  const auto softened = [&](Match found) {
    return doubted && found != Match::Yes ? Match::Unknown : found;
  };
  Match found = Match::Yes;
  const auto ask = [&](Match part) {
    found = both(found, part);
    return found != Match::No;
  };
  if (conditions.opaque && !ask(match_of(*conditions.opaque == effect.opaque))) return found;
  if (!conditions.effect_class.empty()) {
    const bool listed = std::ranges::find(conditions.effect_class, effect.effect_class) !=
                        conditions.effect_class.end();
    if (!ask(softened(match_of(listed)))) return found;
  }
  if (conditions.recursive && !ask(softened(match_of(*conditions.recursive == effect.recursive)))) {
    return found;
  }
  if (!conditions.host.empty()) {
    Match host = Match::No;
    for (const HostName& name : conditions.host) {
      if (effect.host) host = either(host, name.matches(*effect.host));
    }
    if (!ask(softened(host))) return found;
  }
  if (!conditions.command.empty() && !ask(softened(command_of(conditions, effect, side)))) {
    return found;
  }
  if (conditions.names_paths()) {
    ask(softened(effect.path ? path_part(conditions, seen, side) : Match::No));
  }
  return found;
}

std::vector<std::string> usable_workspace(std::vector<std::string> folders,
                                          const std::string& home) {
  const PathForm at_home = PathForm::of(home);
  for (const std::string& folder : folders) {
    const PathForm form = PathForm::of(folder);
    const bool all = form.segments.empty() || !folder.starts_with('/') ||
                     (!home.empty() && is_inside(at_home, std::span(&form, 1), Side::Narrow));
    if (all) return {};
  }
  return folders;
}

namespace {

// True if each narrow item is covered by a wide one. An empty list is no condition.
template <class Item, class Covers>
bool within(const std::vector<Item>& narrow, const std::vector<Item>& wide, Covers covers) {
  if (wide.empty()) return true;
  return !narrow.empty() && std::ranges::all_of(narrow, [&](const Item& item) {
    return std::ranges::any_of(wide, [&](const Item& other) { return covers(item, other); });
  });
}

bool folder_within(const FolderName& inner, const FolderName& outer) {
  if (inner == outer) return true;
  if (inner.kind != FolderName::Kind::Path || outer.kind != FolderName::Kind::Path) return false;
  if (inner.path.starts_with('~') != outer.path.starts_with('~')) return false;
  const PathForm folder = PathForm::of(outer.path);
  return is_inside(PathForm::of(inner.path), std::span(&folder, 1), Side::Narrow);
}

bool host_within(const HostName& inner, const HostName& outer) {
  if (inner == outer) return true;
  if (outer.kind == HostName::Kind::Private) {
    return inner.kind == HostName::Kind::Exact && effects::is_private({.text = inner.name});
  }
  if (outer.kind != HostName::Kind::Suffix || inner.kind == HostName::Kind::Private) return false;
  return inner.name.ends_with("." + outer.name);
}

bool subset(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  return std::ranges::all_of(
      part, [&](const std::string& name) { return std::ranges::find(whole, name) != whole.end(); });
}

bool command_within(const CommandPattern& inner, const CommandPattern& outer) {
  const bool words = outer.run.size() <= inner.run.size() &&
                     std::equal(outer.run.begin(), outer.run.end(), inner.run.begin());
  const bool flags =
      outer.flags.empty() || (!inner.flags.empty() && subset(inner.flags, outer.flags));
  return words && flags && subset(outer.without, inner.without);
}

template <class Value>
bool equal_or_unasked(const std::optional<Value>& narrow, const std::optional<Value>& wide) {
  return !wide || narrow == wide;
}

}  // namespace

bool implies(const Conditions& narrow, const Conditions& wide) {
  const auto equal = [](const std::string& a, const std::string& b) { return a == b; };
  const bool paths =
      within(narrow.path, wide.path, [](const Glob& a, const Glob& b) { return b.covers(a); }) &&
      within(narrow.inside, wide.inside, folder_within) &&
      // More folders in `outside` make a condition narrower.
      std::ranges::all_of(wide.outside, [&](const FolderName& folder) {
        return std::ranges::any_of(
            narrow.outside, [&](const FolderName& own) { return folder_within(folder, own); });
      });
  const bool arguments = std::ranges::all_of(wide.args, [&](const Argument& wanted) {
    return std::ranges::any_of(narrow.args,
                               [&](const Argument& own) { return own.implies(wanted); });
  });
  return paths && arguments &&
         within(narrow.agent, wide.agent,
                [](const std::string& a, const std::string& b) { return is_agent(b, a); }) &&
         within(narrow.session, wide.session, equal) && within(narrow.front, wide.front, equal) &&
         within(narrow.server, wide.server, equal) &&
         within(narrow.tool, wide.tool,
                [](const std::string& a, const std::string& b) { return fits_wildcard(b, a); }) &&
         within(narrow.effect_class, wide.effect_class, equal) &&
         within(narrow.host, wide.host, host_within) &&
         within(narrow.command, wide.command, command_within) &&
         equal_or_unasked(narrow.interactive, wide.interactive) &&
         equal_or_unasked(narrow.recursive, wide.recursive) &&
         equal_or_unasked(narrow.opaque, wide.opaque);
}

bool implies(const std::vector<Conditions>& narrow, const std::vector<Conditions>& wide) {
  if (wide.empty()) return true;
  return !narrow.empty() && std::ranges::all_of(narrow, [&](const Conditions& each) {
    return std::ranges::any_of(wide, [&](const Conditions& other) { return implies(each, other); });
  });
}

namespace {

constexpr std::size_t kMostPieces = 512;

// Replaces each piece by one for each of its values, made by `with`. With fewer than two it stays.
template <class ValuesOf, class With>
void split(std::vector<Conditions>& pieces, ValuesOf values_of, With with) {
  std::vector<Conditions> next;
  for (const Conditions& piece : pieces) {
    const auto values = values_of(piece);
    if (values.size() < 2) next.push_back(piece);
    for (std::size_t i = 0; values.size() > 1 && i < values.size(); ++i) {
      with(next.emplace_back(piece), values[i]);
    }
  }
  if (next.size() <= kMostPieces) pieces = std::move(next);
}

template <class Value>
void split(std::vector<Conditions>& pieces, std::vector<Value> Conditions::* list) {
  split(
      pieces, [&](const Conditions& piece) { return piece.*list; },
      [&](Conditions& piece, const Value& value) { piece.*list = {value}; });
}

void split(std::vector<Conditions>& pieces, std::optional<bool> Conditions::* answer) {
  split(
      pieces,
      [&](const Conditions& piece) {
        return piece.*answer ? std::vector<int>() : std::vector<int>{0, 1};
      },
      [&](Conditions& piece, int value) { piece.*answer = value == 1; });
}

}  // namespace

std::vector<Conditions> in_pieces(const std::vector<Conditions>& list) {
  std::vector<Conditions> pieces = list;
  split(pieces, &Conditions::agent);
  split(pieces, &Conditions::session);
  split(pieces, &Conditions::front);
  split(pieces, &Conditions::server);
  split(pieces, &Conditions::tool);
  split(pieces, &Conditions::effect_class);
  split(pieces, &Conditions::path);
  split(pieces, &Conditions::inside);
  split(pieces, &Conditions::host);
  split(pieces, &Conditions::command);
  split(pieces, &Conditions::interactive);
  split(pieces, &Conditions::recursive);
  split(pieces, &Conditions::opaque);
  return pieces;
}

}  // namespace sallyport::rules
