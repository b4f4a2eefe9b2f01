#include "workbench/hole_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "base/lower_case.h"
#include "grants/constraint.h"

namespace sallyport::app {

namespace {

using guardrails::TextPiece;

// An address whose host is written out before the first hole: the rest of it changes no host.
bool has_its_host(const std::vector<TextPiece>& pieces) {
  std::string_view text = pieces.front().text;
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon < 2) return false;
  const std::string_view scheme = text.substr(0, colon);
  const bool letters = std::ranges::all_of(scheme, [](char c) {
    const char letter = lower_letter(c);
    return letter >= 'a' && letter <= 'z';
  });
  return letters && lower_case(scheme) != "file" &&
         text.find_first_of("/?#", colon + 3) != std::string_view::npos;
}

// Puts the text between two characters that no word has: a pattern with them matches it whole.
std::vector<TextPiece> between_ends(std::vector<TextPiece> pieces) {
  pieces.insert(pieces.begin(), {.text = "\x01"});
  pieces.push_back({.text = "\x02"});
  return pieces;
}

std::string whole(const std::string& pattern, bool folded = false) {
  return folded ? "(?i)\\x01(?:" + pattern + ")[. ]*\\x02" : "\\x01(?:" + pattern + ")\\x02";
}

bool can_distinguish(std::vector<std::string> patterns, const std::vector<TextPiece>& text) {
  const guardrails::Check check{.type = guardrails::CheckType::Regex,
                                .entries = std::move(patterns)};
  const guardrails::HoleReach reach = guardrails::reach_of(check, text);
  return reach.may && !reach.must;
}

// A name with `*` and `?`, as a pattern.
std::string pattern_of(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       static_cast<unsigned char>(c) >= 0x80;
    if (c == '*') {
      pattern += "[^/]*";
    } else if (c == '?') {
      pattern += "[^/]";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      pattern += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (!plain) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

// True if the fixed begin and end of the name agree with the fixed begin and end of the text.
bool could_be(std::string_view name, const std::vector<TextPiece>& pieces) {
  const auto agree = [](std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    return std::ranges::equal(a.substr(0, size), b.substr(0, size), {}, lower_letter, lower_letter);
  };
  const std::string_view head = name.substr(0, name.find_first_of("*?"));
  const std::size_t last = name.find_last_of("*?");
  const std::string_view tail =
      last == std::string_view::npos ? name : name.substr(last + 1, name.size() - last - 1);
  std::string end(tail);
  std::string own_end = pieces.back().text;
  while (!own_end.empty() && (own_end.back() == '.' || own_end.back() == ' ')) own_end.pop_back();
  std::ranges::reverse(end);
  std::ranges::reverse(own_end);
  return agree(head, pieces.front().text) && agree(end, own_end);
}

// Returns a name that equals the whole text for some words of its holes and not for others.
const std::string* distinguishing_name(const std::set<std::string>& names,
                                       const std::vector<TextPiece>& pieces) {
  const std::vector<TextPiece> text = between_ends(pieces);
  for (const std::string& name : names) {
    if (name.find_first_not_of('*') == std::string::npos || !could_be(name, pieces)) continue;
    const std::string pattern = pattern_of(name);
    if (can_distinguish({whole(pattern)}, text) || can_distinguish({whole(pattern, true)}, text)) {
      return &name;
    }
  }
  return nullptr;
}

void add_segments(std::string_view path, std::set<std::string>& names) {
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    names.emplace(segment);
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
  }
}

void add_texts(const json::value& value, std::set<std::string>& texts) {
  if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) add_texts(member.value(), texts);
  } else if (const json::array* const array = value.if_array()) {
    for (const json::value& each : *array) add_texts(each, texts);
  } else if (value.is_string()) {
    texts.emplace(value.get_string());
  }
}

void add_names(const rules::Conditions& conditions, std::set<std::string>& folders,
               std::set<std::string>& commands) {
  for (const rules::Glob& glob : conditions.path) add_segments(glob.text(), folders);
  for (const auto* const list : {&conditions.inside, &conditions.outside}) {
    for (const rules::FolderName& folder : *list) add_segments(folder.path, folders);
  }
  for (const effects::CommandPattern& command : conditions.command) {
    for (const auto* const list : {&command.run, &command.flags, &command.without}) {
      commands.insert(list->begin(), list->end());
    }
  }
}

// All conditions of a rule, wherever they stand.
template <class Visit>
void visit_conditions(const rules::Rule& rule, const Visit& visit) {
  for (const rules::Conditions& conditions : rule.when) visit(conditions, conditions.args);
  for (const rules::Conditions& conditions : rule.unless) visit(conditions, conditions.args);
  for (const rules::Alternative& alternative : rule.only) {
    visit(alternative.conditions, alternative.conditions.args);
    visit(alternative.conditions, alternative.constraints);
  }
}

effects::CallFacts facts_of(const CallTrial& trial) {
  const CallSetting& setting = trial.call.setting;
  return {.call = trial.call,
          .front = setting.front,
          .cwd = setting.folder.empty() ? std::nullopt : std::optional(setting.folder),
          .workspace = setting.workspace,
          .machine = trial.machine,
          .files = trial.upstream.remote_files ? nullptr : trial.files,
          .server_command = trial.upstream.command,
          .read_only_hint = trial.upstream.read_only_hint,
          .definition_changed = trial.upstream.definition_changed};
}

}  // namespace

HoleRules::HoleRules(const CallTrial& trial, const rules::RuleSet& set, const HoleTexts& texts,
                     bool by_digest)
    : trial_(trial), texts_(texts), by_digest_(by_digest) {
  for (const rules::Rule& rule : set.rules) {
    visit_conditions(rule, [&](const rules::Conditions& conditions, const auto& arguments) {
      add_names(conditions, folders_, commands_);
      hosts_ = hosts_ || !conditions.host.empty();
      for (const rules::Argument& argument : arguments) arguments_.push_back(&argument);
    });
  }
  const CallSetting& setting = trial.call.setting;
  for (const auto* const list : {&set.workspace, &setting.workspace, &trial.machine.temp}) {
    for (const std::string& folder : *list) add_segments(folder, folders_);
  }
  for (const std::string* const folder :
       {&setting.folder, &trial.machine.home, &trial.machine.data, &trial.machine.policy}) {
    add_segments(*folder, folders_);
  }
  add_segments("/var/tmp", folders_);
  std::vector<effects::UsedText> used;
  const effects::CallFacts facts = facts_of(trial);
  effects_ = effects::effects_of_call(seen_by(set, facts), set.book, &used);
  for (const auto& [path, pieces] : texts) {
    const json::value& text = trial.call.input.at_pointer(path);
    const std::string_view leaf = text.get_string();
    const bool host_only = has_its_host(pieces);
    const bool by_effects = std::ranges::any_of(used, [&](const effects::UsedText& each) {
      const bool inside =
          each.text.data() >= leaf.data() && each.text.data() <= leaf.data() + leaf.size();
      return (inside || each.text == leaf) && !(each.as_address && host_only);
    });
    const bool by_arguments = std::ranges::any_of(arguments_, [&](const auto* argument) {
      return grants::looks_at(argument->constraint(), trial.call.input, text);
    });
    if (by_effects || by_arguments) looked_at_.insert(path);
  }
}

// Splits the text into pieces, with the words of holes as holes. No value: the text has no hole.
std::optional<HoleRules::Token> HoleRules::token_of(std::string_view text) const {
  Token token;
  while (!text.empty()) {
    std::size_t first = std::string_view::npos;
    std::size_t size = 0;
    TextPiece hole;
    for (const std::string& path : looked_at_) {
      std::size_t place = 0;
      for (const TextPiece& piece : texts_.at(path)) {
        if (piece.forms.empty()) continue;
        const std::string word = guardrails::word_in(piece, place++, 0);
        const std::size_t at = text.find(word);
        if (at == std::string_view::npos || at > first || (at == first && word.size() < size)) {
          continue;
        }
        if (at == first && word.size() == size) {
          hole.forms.insert(hole.forms.end(), piece.forms.begin(), piece.forms.end());
          continue;
        }
        first = at;
        size = word.size();
        hole = piece;
        token.path = &path;
      }
    }
    token.pieces.push_back({.text = std::string(text.substr(0, first))});
    if (first == std::string_view::npos) break;
    token.pieces.push_back(std::move(hole));
    text.remove_prefix(first + size);
  }
  if (token.path == nullptr) return std::nullopt;
  if (!token.pieces.back().forms.empty()) token.pieces.emplace_back();
  return token;
}

std::vector<HoleRules::Token> HoleRules::segments_of(std::string_view text) const {
  std::set<std::string> segments;
  add_segments(text, segments);
  std::vector<Token> tokens;
  for (const std::string& segment : segments) {
    if (std::optional<Token> token = token_of(segment)) tokens.push_back(std::move(*token));
  }
  return tokens;
}

bool HoleRules::in_a_path() const {
  return std::ranges::any_of(effects_.effects, [&](const effects::Effect& effect) {
    return effect.path &&
           (token_of(effect.path->text) || token_of(effect.path->folder.value_or("")));
  });
}

std::optional<HoleRules::Doubt> HoleRules::doubt_of(const effects::Effect& effect) const {
  std::vector<Token> segments;
  if (effect.path) {
    // A relative path starts from its folder.
    segments = segments_of(effect.path->folder.value_or("") + "/" + effect.path->text);
  }
  for (const Token& token : segments) {
    const std::string* const name = distinguishing_name(folders_, token.pieces);
    if (name) return Doubt{*token.path, fmt::format("a rule compares it with `{}`", *name)};
  }
  if (effect.host && hosts_) {
    if (std::optional<Doubt> found = doubt_of_host(*effect.host)) return found;
  }
  return effect.command ? doubt_of_command(*effect.command) : std::nullopt;
}

std::optional<HoleRules::Doubt> HoleRules::doubt_of_host(const effects::EffectHost& host) const {
  for (const std::string& path : looked_at_) {
    std::size_t place = 0;
    for (const TextPiece& piece : texts_.at(path)) {
      if (piece.forms.empty()) continue;
      const std::string word = lower_case(guardrails::word_in(piece, place++, 0));
      // An address of mail ends in a host.
      const std::string_view end = std::string_view(word).substr(word.find('@') + 1);
      if (host.text.contains(end)) return Doubt{path, "a rule looks at the host"};
    }
  }
  return std::nullopt;
}

std::optional<HoleRules::Doubt> HoleRules::doubt_of_command(const effects::Command& command) const {
  if (const std::optional<Token> token = token_of(command.folder.value_or(""))) {
    return Doubt{*token->path, "it says where a command runs"};
  }
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    for (const std::string& value : command.words[i].values) {
      const std::optional<Token> token = token_of(value);
      if (!token) continue;
      const std::string& before = token->pieces.front().text;
      const bool option = before.starts_with('-') && !before.contains('=');
      if (i == 0 || option) return Doubt{*token->path, "it says which command runs, or how"};
      const std::string* const name = distinguishing_name(commands_, token->pieces);
      if (name) return Doubt{*token->path, fmt::format("a rule compares it with `{}`", *name)};
    }
  }
  return std::nullopt;
}

std::optional<HoleRules::Doubt> HoleRules::doubt_of(const rules::Argument& argument) const {
  for (const std::string& path : looked_at_) {
    const json::value& text = trial_.call.input.at_pointer(path);
    if (!grants::looks_at(argument.constraint(), trial_.call.input, text)) continue;
    if (std::optional<Doubt> found = doubt_of(argument, path, texts_.at(path))) return found;
  }
  return std::nullopt;
}

std::optional<HoleRules::Doubt> HoleRules::doubt_of(const rules::Argument& argument,
                                                    const std::string& path,
                                                    const Pieces& pieces) const {
  const auto& [type, value] = argument.constraint();
  const Doubt doubt{path, fmt::format("a rule asks for `{}`", type)};
  std::set<std::string> names;
  add_texts(value, names);
  const auto is_doubtful = [&]() -> bool {
    if (type == "arg_number") return false;  // a text is no number
    if (type == "arg_regex") {
      return can_distinguish({whole(text_or_empty(value.as_object(), "pattern"))},
                             between_ends(pieces));
    }
    if (type == "regex_match" || type == "memory_write_deny_patterns") {
      return can_distinguish({names.begin(), names.end()}, pieces);
    }
    if (type == "path_prefix") {
      std::set<std::string> segments;
      for (const std::string& name : names) add_segments(name, segments);
      const std::vector<Token> tokens =
          segments_of(trial_.call.input.at_pointer(path).get_string());
      return std::ranges::any_of(tokens, [&](const Token& token) {
        return distinguishing_name(segments, token.pieces) != nullptr;
      });
    }
    if (type == "domain_exact" || type == "domain_glob") return !has_its_host(pieces);
    constexpr std::string_view kEqual[] = {"arg_equals", "custom", "audience_allowlist",
                                           "memory_store_allowlist"};
    if (std::ranges::find(kEqual, type) == std::end(kEqual)) return true;
    // One hole alone is compared by its digest.
    const bool compared = by_digest_ && pieces.size() == 3;
    return !compared && distinguishing_name(names, pieces) != nullptr;
  };
  return is_doubtful() ? std::optional(doubt) : std::nullopt;
}

std::optional<HoleRules::Doubt> HoleRules::doubt() const {
  const bool commands = std::ranges::any_of(
      effects_.effects, [](const effects::Effect& effect) { return effect.command.has_value(); });
  for (const std::string& path : looked_at_) {
    const Pieces& pieces = texts_.at(path);
    const std::size_t words = guardrails::words_of(pieces);
    if (words == 0) return Doubt{path, "the rules of the policy look at it"};
    // In the address of a file, the text after `%` is part of the path.
    const std::string text = lower_case(trial_.call.input.at_pointer(path).get_string());
    if (text.contains("file:")) return Doubt{path, "it is part of an address"};
    for (std::size_t i = 0; commands && i < words * pieces.size(); ++i) {
      const TextPiece& piece = pieces[i % pieces.size()];
      const bool blank =
          !piece.forms.empty() && guardrails::word_in(piece, i / pieces.size(), 0).contains(' ');
      if (blank) return Doubt{path, "it may be several words"};
    }
  }
  for (const effects::Effect& effect : effects_.effects) {
    if (std::optional<Doubt> found = doubt_of(effect)) return found;
  }
  for (const rules::Argument* const argument : arguments_) {
    if (std::optional<Doubt> found = doubt_of(*argument)) return found;
  }
  return std::nullopt;
}

}  // namespace sallyport::app
