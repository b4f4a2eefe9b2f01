#include "effects/word_expansion.h"

#include <algorithm>

#include "effects/brace_expansion.h"
#include "effects/path_text.h"
#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

constexpr std::size_t kMostNames = 4096;   // RU-47
constexpr std::size_t kMostValues = 1024;  // more than the effects that a line may have
constexpr std::size_t kLook = 8;           // the cost of checking one change
constexpr std::string_view kBlanks = " \t\n";

bool is_split_or_glob(char c) {
  return kBlanks.contains(c) || c == '*' || c == '?' || c == '[' || c == '\\';
}

// True if a command of the line may have written in that folder.
bool may_have_changed(const DiskChanges& changes, const std::string& folder) {
  if (changes.written_unknown || changes.links_unknown) return true;
  const auto touches = [&](const std::string& path) {
    return is_at_or_below(folder, path) || parent_folder(path) == folder;
  };
  return std::ranges::any_of(changes.written, touches) ||
         std::ranges::any_of(changes.links, touches);
}

}  // namespace

// A word under construction. With several candidates, it is one of them.
struct WordExpansion::Draft {
  std::vector<Candidate> candidates{{}};
  std::vector<Candidate> finished{};  // fields that splitting has ended
  bool present = false;               // there is a word, even if it is just quotes
  bool unknown = false;
  bool many = false;

  void append(std::string_view text, bool active) {
    for (Candidate& candidate : candidates) {
      candidate.text += text;
      candidate.active.append(text.size(), active ? '\1' : '\0');
    }
  }
};

bool WordExpansion::spend(std::size_t bytes) {
  if (bytes > budget_) {
    budget_ = 0;
    return false;
  }
  budget_ -= bytes;
  return true;
}

std::vector<Word> WordExpansion::fields(const WordSyntax& word, const ShellState& state,
                                        const DiskChanges& changes) {
  const bool braces = std::ranges::any_of(word.parts, [](const Part& part) {
    return part.kind == Part::Kind::Text && !part.quoted && part.text.contains('{');
  });
  std::vector<Word> out;
  if (!braces) {
    expand(word.parts, state, changes, out);
    return out;
  }
  const auto expanded = brace_expanded(word.parts);
  if (!expanded) return {Word{.many = true}};
  for (const std::vector<Part>& parts : *expanded) expand(parts, state, changes, out);
  return out;
}

Word WordExpansion::word(const std::vector<Part>& parts, const ShellState& state, bool tilde) {
  Draft draft;
  for (std::size_t i = 0; i < parts.size() && !draft.unknown; ++i) {
    Part part = {
        .kind = parts[i].kind, .quoted = true, .text = parts[i].text, .plain = parts[i].plain};
    const bool plain_text = parts[i].kind == Part::Kind::Text && !parts[i].quoted;
    if (tilde && plain_text && part.text.contains(":~")) return {};
    if (tilde && plain_text && i == 0 && part.text.starts_with('~')) {
      part.quoted = false;
      add_part(draft, part, state, true, parts.size() == 1);
    } else {
      add_part(draft, part, state, false, false);
    }
  }
  if (draft.unknown) return {};
  Word out;
  for (Candidate& candidate : draft.candidates) out.values.push_back(std::move(candidate.text));
  return out;
}

void WordExpansion::expand(const std::vector<Part>& parts, const ShellState& state,
                           const DiskChanges& changes, std::vector<Word>& out) {
  Draft draft;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!add_part(draft, parts[i], state, i == 0, i + 1 == parts.size())) draft.unknown = true;
  }
  if (draft.unknown || out.size() > kMostNames) {
    // A glob next to an unknown part may still become many words.
    const bool glob = std::ranges::any_of(parts, [](const Part& part) {
      return part.kind == Part::Kind::Text && !part.quoted &&
             part.text.find_first_of("*?[") != std::string::npos;
    });
    out.push_back(Word{.many = draft.many || glob || out.size() > kMostNames});
    return;
  }
  if (draft.candidates.size() > 1) {
    Word word;
    for (Candidate& candidate : draft.candidates) {
      if (has_glob(candidate.text, candidate.active)) {
        out.push_back(Word{.many = true});
        return;
      }
      word.values.push_back(std::move(candidate.text));
    }
    out.push_back(std::move(word));
    return;
  }
  if (draft.present || !draft.candidates[0].text.empty()) {
    draft.finished.push_back(std::move(draft.candidates[0]));
  }
  for (Candidate& field : draft.finished) {
    if (!has_glob(field.text, field.active)) {
      out.push_back(Word{.values = {std::move(field.text)}});
      continue;
    }
    const auto names = glob(field, state, changes);
    if (!names) {
      out.push_back(Word{.many = true});
      continue;
    }
    for (const std::string& name : *names) out.push_back(Word{.values = {name}});
  }
}

bool WordExpansion::add_part(Draft& draft, const Part& part, const ShellState& state, bool first,
                             bool last) {
  if (part.quoted) draft.present = true;
  switch (part.kind) {
    case Part::Kind::Text:
      if (!part.quoted && first && part.text.starts_with('~')) {
        return add_tilde(draft, part, state, last);
      }
      if (!part.quoted && first) {
        // bash expands `~` in an argument that looks like an assignment, other shells do not.
        const std::size_t equals = part.text.find("=~");
        if (equals != std::string::npos && is_name(part.text.substr(0, equals))) {
          if (part.text.contains(":~")) return false;
          draft.append(part.text.substr(0, equals + 1), true);
          Draft home = draft;
          home.present = true;
          const Part rest{.text = part.text.substr(equals + 1)};
          if (!add_tilde(home, rest, state, last) || home.unknown) return false;
          draft.append(rest.text, true);
          draft.candidates.push_back(home.candidates[0]);
          return true;
        }
        if (part.text.contains("=") && part.text.contains(":~")) return false;
      }
      if (!spend(part.text.size() * draft.candidates.size())) return false;
      draft.append(part.text, !part.quoted);
      return true;
    case Part::Kind::Parameter: {
      const bool all = part.text == "@" || part.text == "*" || part.text.ends_with("[@]");
      const std::vector<std::string>* values =
          part.plain && !all ? values_of(part.text, state) : nullptr;
      if (values != nullptr) return add_values(draft, *values, part.quoted);
      draft.unknown = true;
      draft.many = draft.many || !part.quoted || all;
      return true;
    }
    case Part::Kind::Arithmetic:
    case Part::Kind::Process:
    case Part::Kind::Unknown:
      draft.unknown = true;
      return true;
    case Part::Kind::Command:
      draft.unknown = true;
      draft.many = draft.many || !part.quoted;
      return true;
  }
  return false;
}

bool WordExpansion::add_values(Draft& draft, const std::vector<std::string>& values, bool quoted) {
  const bool many_before = draft.many;
  draft.many = draft.many || !quoted;
  if (values.size() > 1) {
    if (draft.candidates.size() * values.size() > kMostValues || !draft.finished.empty()) {
      draft.unknown = true;
      return true;
    }
    std::vector<Candidate> next;
    for (const Candidate& candidate : draft.candidates) {
      for (const std::string& value : values) {
        const bool plain = !value.empty() && std::ranges::none_of(value, is_split_or_glob);
        if ((!quoted && !plain) || !spend(candidate.text.size() + value.size())) {
          draft.unknown = true;
          return true;
        }
        next.push_back(candidate);
        next.back().text += value;
        next.back().active.append(value.size(), '\0');
      }
    }
    draft.candidates = std::move(next);
    draft.present = true;
    draft.many = many_before;
    return true;
  }
  const std::string& value = values[0];
  if (!spend(value.size() * draft.candidates.size())) return false;
  if (quoted || std::ranges::none_of(value, is_split_or_glob)) {
    draft.append(value, false);
    draft.many = many_before;
    return true;
  }
  // Shells disagree about a backslash from a value in a glob.
  if (draft.candidates.size() > 1 || value.contains('\\')) {
    draft.unknown = true;
    return true;
  }
  std::size_t at = 0;
  while (at < value.size()) {
    const std::size_t end = std::min(value.size(), value.find_first_of(kBlanks, at));
    draft.append(std::string_view(value).substr(at, end - at), true);
    at = std::min(value.size(), value.find_first_not_of(kBlanks, end));
    if (end == value.size()) break;
    if (draft.present || !draft.candidates[0].text.empty()) {
      draft.finished.push_back(std::move(draft.candidates[0]));
    }
    draft.candidates[0] = {};
    draft.present = false;
  }
  return true;
}

bool WordExpansion::add_tilde(Draft& draft, const Part& part, const ShellState& state, bool last) {
  const std::size_t end = std::min(part.text.size(), part.text.find('/'));
  const std::string_view user = std::string_view(part.text).substr(1, end - 1);
  const std::string* folder = nullptr;
  if (user.empty() && !setting_.home.empty()) folder = &setting_.home;
  if (user == "+" && state.folders.size() == 1) folder = &state.folders[0];
  if (folder == nullptr || (end == part.text.size() && !last)) {
    draft.unknown = true;
    return true;
  }
  draft.present = true;
  draft.append(*folder, false);
  draft.append(std::string_view(part.text).substr(end), true);
  return true;
}

const std::vector<std::string>* WordExpansion::values_of(const std::string& name,
                                                         const ShellState& state) {
  if (const auto* values = state.find(name)) return values;
  if (name == "HOME" && !setting_.home.empty()) {
    scratch_ = {setting_.home};
    return &scratch_;
  }
  if (name == "PWD" && !state.folders.empty()) {
    scratch_ = state.folders;
    return &scratch_;
  }
  return nullptr;
}

const std::vector<std::string>* WordExpansion::names_in(const std::string& folder, bool& unknown) {
  auto found = seen_.find(folder);
  if (found == seen_.end()) {
    if (looks_ == 0) {
      unknown = true;
      return nullptr;
    }
    --looks_;
    auto names = setting_.files->names(folder, kMostNames);
    if (!names && !setting_.files->missing(folder)) {
      unknown = true;
      return nullptr;
    }
    found = seen_.emplace(folder, std::move(names)).first;
  }
  return found->second ? &*found->second : nullptr;
}

bool WordExpansion::is_folder(const std::string& path) {
  bool unknown = false;
  return setting_.files != nullptr && names_in(path, unknown) != nullptr;
}

bool WordExpansion::may_be_folder(const std::string& path) {
  if (setting_.files == nullptr) return true;
  bool unknown = false;
  return names_in(path, unknown) != nullptr || unknown;
}

bool WordExpansion::exists(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (setting_.files == nullptr || slash == std::string::npos) return false;
  bool unknown = false;
  const auto* const names = names_in(slash == 0 ? "/" : path.substr(0, slash), unknown);
  return names != nullptr && std::ranges::find(*names, path.substr(slash + 1)) != names->end();
}

bool WordExpansion::leads_out(const std::string& root, const std::string& below) {
  if (setting_.files == nullptr) return false;
  if (resolves_ == 0) return true;
  --resolves_;
  const std::optional<std::string> base = setting_.files->resolve(root);
  const std::optional<std::string> path = setting_.files->resolve(root + below);
  return !base || !path || *path != *base + below;
}

std::optional<bool> WordExpansion::has_dots(const std::string& folder, std::string_view dots,
                                            const DiskChanges& changes) {
  bool unknown = false;
  const bool is_folder = names_in(folder, unknown) != nullptr;
  if (unknown || may_have_changed(changes, folder)) return std::nullopt;
  // After a link, `..` is not the folder that contains the link.
  if (is_folder && dots == ".." && setting_.files->resolve(folder) != folder) return std::nullopt;
  return is_folder;
}

std::optional<const std::vector<std::string>*> WordExpansion::certain_names(
    const std::string& folder, const DiskChanges& changes) {
  bool unknown = false;
  const std::vector<std::string>* const names = names_in(folder, unknown);
  const bool certain =
      !unknown && spend(kLook * (1 + changes.written.size())) && !may_have_changed(changes, folder);
  return certain ? std::optional(names) : std::nullopt;
}

bool WordExpansion::follow_name(const GlobStep& step, const GlobWay& way,
                                const DiskChanges& changes, std::vector<GlobWay>& found) {
  const std::string text = step.segment.text();
  // Only a folder has `.` and `..`, so names that were found must be checked.
  const bool dots = text == "." || text == "..";
  if (dots && way.written.find_first_not_of("./") != std::string::npos) {
    const std::optional<bool> has = has_dots(way.folder, text, changes);
    if (!has) return false;
    if (!*has) return true;
  }
  // The last segment must exist, which only the names of its folder show.
  if (step.final && !text.empty() && !dots) {
    const auto names = certain_names(way.folder, changes);
    if (!names) return false;
    if (*names == nullptr || std::ranges::find(**names, text) == (*names)->end()) return true;
  }
  found.push_back({way.written + text + step.slashes,
                   text.empty() ? way.folder : cleaned_path(way.folder + "/" + text)});
  return true;
}

bool WordExpansion::follow_pattern(const GlobStep& step, const GlobWay& way,
                                   const DiskChanges& changes, std::vector<GlobWay>& found) {
  const auto names = certain_names(way.folder, changes);
  if (!names) return false;
  if (*names == nullptr) return true;
  if (!spend((*names)->size() * step.bytes)) return false;
  for (const char* const dots : {".", ".."}) {
    if (dots_match_ && step.segment.matches(dots))
      found.push_back({way.written + dots + step.slashes, cleaned_path(way.folder + "/" + dots)});
  }
  for (const std::string& name : **names) {
    if (!step.segment.matches(name)) continue;
    if (found.size() >= kMostNames) return false;
    std::string path = cleaned_path(way.folder + "/" + name);
    bool unknown = false;
    if (step.final && !step.slashes.empty() && names_in(path, unknown) == nullptr) {
      if (unknown) return false;
      continue;
    }
    found.push_back({way.written + name + step.slashes, std::move(path)});
  }
  return true;
}

std::optional<std::vector<std::string>> WordExpansion::glob(const Candidate& pattern,
                                                            const ShellState& state,
                                                            const DiskChanges& changes) {
  const bool absolute = pattern.text.starts_with('/');
  if (setting_.files == nullptr || (!absolute && state.folders.size() != 1)) return std::nullopt;
  std::vector<GlobWay> ways{{"", absolute ? "/" : state.folders[0]}};
  std::size_t at = 0;
  while (at < pattern.text.size() && !ways.empty()) {
    const std::size_t end = std::min(pattern.text.size(), pattern.text.find('/', at));
    const std::size_t next =
        std::min(pattern.text.size(), pattern.text.find_first_not_of('/', end));
    auto segment = GlobSegment::read(std::string_view(pattern.text).substr(at, end - at),
                                     std::string_view(pattern.active).substr(at, end - at));
    if (!segment) return std::nullopt;
    const GlobStep step{.segment = std::move(*segment),
                        .slashes = pattern.text.substr(end, next - end),
                        .bytes = end - at,
                        .final = next == pattern.text.size()};
    std::vector<GlobWay> found;
    for (const GlobWay& way : ways) {
      const bool known = step.segment.literal() ? follow_name(step, way, changes, found)
                                                : follow_pattern(step, way, changes, found);
      if (!known) return std::nullopt;
    }
    ways = std::move(found);
    at = next;
  }
  if (ways.empty()) return std::vector<std::string>{pattern.text};
  std::vector<std::string> out;
  for (GlobWay& way : ways) out.push_back(std::move(way.written));
  return out;
}

}  // namespace sallyport::effects
