// Matches the condition `command` (RU-51..RU-53).
#include <algorithm>
#include <utility>

#include "effects/command_line.h"
#include "effects/path_text.h"
#include "effects/program_table.h"
#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

Match both(Match left, Match right) {
  return std::min(left, right);
}

Match opposite(Match match) {
  return match == Match::Yes ? Match::No : match == Match::No ? Match::Yes : Match::Unknown;
}

// A restrictive rule needs one fitting value of a word, an `allow` rule needs all of them.
template <class Fits>
Match fits_word(const Word& word, bool restrictive, const Fits& fits) {
  if (!word.known()) return Match::Unknown;
  const bool any = std::ranges::any_of(word.values, fits);
  const bool all = std::ranges::all_of(word.values, fits);
  if (all) return Match::Yes;
  return any ? (restrictive ? Match::Yes : Match::Unknown) : Match::No;
}

bool is_flag(std::string_view text) {
  return text.size() > 1 && text.starts_with('-');
}

// The known flags of a command: those of its own row and of its subcommand.
struct FlagTable {
  std::vector<const std::vector<Option>*> options{};
  bool single_dash = false;
  bool complete = false;

  const Option* find(std::string_view spelling) const {
    for (const auto* row : options) {
      if (const Option* option = find_option(*row, spelling)) return option;
    }
    return nullptr;
  }
};

FlagTable flags_of(std::string_view program, std::string_view subcommand) {
  FlagTable out;
  if (const Subcommand* row = find_subcommand(program, subcommand)) {
    out.options.push_back(&options_of(row->options));
    out.complete = row->complete;
  }
  if (const Program* row = find_program(program)) {
    out.options.push_back(&options_of(row->options));
    out.single_dash = row->single_dash;
    out.complete = out.complete || row->complete;
  }
  return out;
}

// All spellings of a flag that the profile knows.
std::vector<std::string_view> spellings_of(const FlagTable& table, std::string_view flag) {
  for (const auto* row : table.options) {
    for (const Option& option : *row) {
      if (std::ranges::find(option.spellings, flag) != option.spellings.end())
        return option.spellings;
    }
  }
  return {flag};
}

// True if the word contains the flag in any spelling.
bool has_flag(const FlagTable& table, std::span<const std::string_view> spellings,
              std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  for (const std::string_view spelling : spellings) {
    if (word == spelling || name == spelling) return true;
    if (spelling.starts_with("--")) {
      // An abbreviation of three letters or more, unless it is another flag.
      const bool abbreviated = name.size() >= 5 && spelling.starts_with(name);
      const Option* exact = table.find(name);
      const bool other =
          exact != nullptr && std::ranges::find(exact->spellings, name) != exact->spellings.end();
      if (abbreviated && !other) return true;
      continue;
    }
    const bool letter = spelling.size() == 2 && spelling[0] == '-';
    if (!letter || table.single_dash || word.starts_with("--") || !is_flag(word)) continue;
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (word[i] == spelling[1]) return true;
      const std::string short_option{'-', word[i]};
      const Option* option = table.find(short_option);
      if (option != nullptr && option->takes_value) break;
    }
  }
  return false;
}

// In `git push`, `+ref` means `--force` and `:ref` means `--delete`.
bool is_ref_flag(std::span<const std::string_view> spellings, std::string_view word) {
  const auto named = [&](std::string_view flag) {
    return std::ranges::find(spellings, flag) != spellings.end();
  };
  return (word.starts_with('+') && word.size() > 1 && named("--force")) ||
         (word.starts_with(':') && word.size() > 1 && named("--delete"));
}

class Matching {
 public:
  Matching(const CommandPattern& pattern, std::span<const Word> words, bool restrictive)
      : pattern_(pattern), words_(words), restrictive_(restrictive) {}

  // The words after the program.
  Match run(std::string_view program) {
    program_ = program_alias(program);
    std::string_view subcommand = pattern_.run.size() > 1 && !is_flag(pattern_.run[1])
                                      ? std::string_view(pattern_.run[1])
                                      : "";
    table_ = flags_of(program_, subcommand);
    std::size_t first = 1;
    has_refs_ = program_ == "git" && skip_to_word("push", first) != Match::No;
    Match match = words_match();
    if (match == Match::No) return match;
    for (std::size_t i = 0; i < pattern_.flags.size(); ++i) {
      if (i == 0) flags_ = Match::No;
      flags_ = std::max(flags_, present(pattern_.flags[i]));
    }
    match = both(match, flags_);
    for (const std::string& flag : pattern_.without) match = both(match, opposite(present(flag)));
    return match;
  }

 private:
  // Matches the words of `run` after the program, skipping options before them.
  Match words_match() {
    Match out = Match::Yes;
    std::size_t at = 1;
    for (std::size_t i = 1; i < pattern_.run.size(); ++i) {
      const std::string& wanted = pattern_.run[i];
      const bool sequence = i + 1 < pattern_.run.size() && !is_flag(pattern_.run[i + 1]);
      if (is_flag(wanted) && !sequence) {
        out = both(out, present(wanted));
        continue;
      }
      const Match found =
          is_flag(wanted) ? skip_to_flag(wanted, at) : skip_to_word(wanted, at, i == 1);
      out = both(out, found);
      if (out == Match::No) return out;
      ++at;
    }
    return out;
  }

  // The next word that is not an option. An unknown option may have a value. The first word may be
  // another spelling of the subcommand.
  Match skip_to_word(const std::string& wanted, std::size_t& at, bool first = false) {
    const auto is_wanted = [&](const std::string& value) {
      return value == wanted || (first && is_spelling(value, wanted));
    };
    bool unclear = false;
    while (at < words_.size()) {
      const Word& word = words_[at];
      if (!word.known()) return Match::Unknown;
      const std::string& text = word.values[0];
      if (word.values.size() == 1 && is_flag(text) && text != "--") {
        const Option* option = table_.find(text.substr(0, text.find('=')));
        const bool takes_value = option != nullptr && option->takes_value && !text.contains('=');
        unclear = option == nullptr && !text.contains('=');
        at += takes_value ? 2 : 1;
        continue;
      }
      if (word.values.size() == 1 && text == "--") {
        ++at;
        continue;
      }
      const Match match = fits_word(word, restrictive_, is_wanted);
      if (match != Match::No || !unclear) return match;
      // The word may be the value of the option before it.
      if (at + 1 < words_.size()) {
        const Match next = fits_word(words_[at + 1], restrictive_, is_wanted);
        if (next != Match::No) {
          ++at;
          return Match::Unknown;
        }
      }
      return Match::No;
    }
    return Match::No;
  }

  // An abbreviation may mean another command in a later release, so no `allow` rule accepts it.
  bool is_spelling(std::string_view value, std::string_view wanted) const {
    return subcommand_alias(program_, value) == subcommand_alias(program_, wanted) ||
           (restrictive_ && begins_subcommand(program_, value, wanted));
  }

  Match skip_to_flag(const std::string& wanted, std::size_t& at) {
    const auto spellings = spellings_of(table_, wanted);
    while (at < words_.size()) {
      const Word& word = words_[at];
      if (!word.known()) return Match::Unknown;
      if (std::ranges::any_of(word.values, [&](const std::string& text) {
            return std::ranges::find(spellings, text) != spellings.end();
          })) {
        return Match::Yes;
      }
      const std::string& text = word.values[0];
      if (!is_flag(text)) return Match::No;
      const Option* option = table_.find(text);
      at += option != nullptr && option->takes_value ? 2 : 1;
    }
    return Match::No;
  }

  Match present(std::string_view flag) const {
    const auto spellings = spellings_of(table_, flag);
    Match out = Match::No;
    bool value = false;
    bool ended = false;
    for (const Word& word : words_.subspan(1)) {
      if (!word.known()) {
        out = std::max(out, Match::Unknown);
        value = false;
        continue;
      }
      if (word.values.size() == 1 && word.values[0] == "--") ended = true;
      if (ended && !has_refs_) break;
      if (std::exchange(value, false)) continue;
      const Match match = fits_word(word, restrictive_, [&](const std::string& text) {
        return (!ended && has_flag(table_, spellings, text)) ||
               (has_refs_ && is_ref_flag(spellings, text));
      });
      out = std::max(out, match);
      if (out == Match::Yes) return out;
      if (!ended && word.values.size() == 1 && is_flag(word.values[0]))
        value = takes_next(word.values[0]);
    }
    return out;
  }

  // True if the next word is the value of this option.
  bool takes_next(std::string_view text) const {
    if (text.contains('=')) return false;
    if (text.starts_with("--") || table_.single_dash || text.size() == 2) {
      const Option* option = table_.find(text);
      return option != nullptr && option->takes_value;
    }
    for (std::size_t i = 1; i < text.size(); ++i) {
      const Option* option = table_.find(std::string{'-', text[i]});
      if (option != nullptr && option->takes_value) return i + 1 == text.size();
    }
    return false;
  }

  const CommandPattern& pattern_;
  std::span<const Word> words_;
  bool restrictive_;
  std::string program_{};
  FlagTable table_{};
  Match flags_ = Match::Yes;
  bool has_refs_ = false;  // the command is `git push`
};

// True if the program in the rule names this one (RU-51).
Match program_match(const std::string& wanted, const Command& command, const std::string& program,
                    bool restrictive, const std::vector<std::string>& workspaces) {
  const bool has_path = wanted.contains('/');
  if (!has_path) {
    if (program == wanted) return Match::Yes;
    if (!program.contains('/'))
      return program_alias(program) == program_alias(wanted) ? Match::Yes : Match::No;
    // For a restrictive rule, a program at another place counts by its name.
    const bool same = program_alias(last_segment(program)) == program_alias(wanted);
    return restrictive && same ? Match::Yes : Match::No;
  }
  if (restrictive && last_segment(program) == last_segment(wanted) && program == wanted)
    return Match::Yes;
  if (program.starts_with("/") && wanted.starts_with("/")) {
    return cleaned_path(program) == cleaned_path(wanted) ? Match::Yes : Match::No;
  }
  if (!program.contains('/')) {
    // The program's system folder was removed from its path, but the rule may name the full path.
    const bool same = last_segment(wanted) == program && wanted.starts_with('/');
    return same ? (restrictive ? Match::Yes : Match::Unknown) : Match::No;
  }
  if (last_segment(program) != last_segment(wanted)) return Match::No;
  const auto path = absolute_path(program, command.folder);
  if (!path || (workspaces.empty() && !wanted.starts_with('/'))) return Match::Unknown;
  if (wanted.starts_with('/')) return *path == cleaned_path(wanted) ? Match::Yes : Match::No;
  const bool same = std::ranges::any_of(workspaces, [&](const std::string& workspace) {
    return absolute_path(wanted, workspace) == path;
  });
  return same ? Match::Yes : Match::No;
}

// Passes the pieces that a program could read as words to `take`, until it returns false.
template <class Take>
void for_each_piece(std::string_view text, Take take) {
  static constexpr CharTable kEnds(" \t\n;&|");
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && !kEnds.contains(text[end])) ++end;
    if (end > begin && !take(text.substr(begin, end - begin))) return;
    begin = end + 1;
  }
}

// True if an argument contains the program's name. Most do not, and need no list of pieces.
bool is_given(std::string_view program, const Command& command) {
  if (program.contains('/')) return true;
  const std::string_view name = program_alias(program);
  bool found = false;
  for (const Word& word : std::span(command.words).subspan(1)) {
    for (const std::string& value : word.values) {
      for_each_piece(value, [&](std::string_view piece) {
        found = found || program_alias(last_segment(piece)) == name;
        return !found;
      });
    }
  }
  return found;
}

Match match_words(const CommandPattern& pattern, const Command& command,
                  std::span<const Word> words, bool restrictive,
                  const std::vector<std::string>& workspaces) {
  if (words.empty()) return Match::No;
  if (!words[0].known()) return Match::Unknown;
  Match out = Match::No;
  for (const std::string& program : words[0].values) {
    const Match named = program_match(pattern.run[0], command, program, restrictive, workspaces);
    if (named == Match::No) continue;
    out = std::max(out,
                   both(named, Matching(pattern, words, restrictive).run(last_segment(program))));
  }
  if (!restrictive && words[0].values.size() > 1 && out == Match::Yes) return Match::Unknown;
  return out;
}

}  // namespace

Match matches(const CommandPattern& pattern, const Command& command, bool restrictive,
              const std::vector<std::string>& workspaces) {
  if (pattern.run.empty() || command.words.empty()) return Match::No;
  const Match match = match_words(pattern, command, command.words, restrictive, workspaces);
  if (match != Match::No || command.has_profile || !restrictive) return match;
  // A program without a profile may run its arguments (RU-53).
  if (!is_given(pattern.run[0], command)) return Match::No;
  std::vector<Word> pieces;
  for (const Word& word : std::span(command.words).subspan(1)) {
    if (!word.known()) {
      pieces.push_back(word);
      continue;
    }
    for (const std::string& value : word.values) {
      for_each_piece(value, [&](std::string_view piece) {
        if (pieces.size() < 4096) pieces.push_back({.values = {std::string(piece)}});
        return pieces.size() < 4096;
      });
    }
  }
  std::size_t tries = 64;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].known()) continue;
    if (program_match(pattern.run[0], command, pieces[i].values[0], true, workspaces) == Match::No)
      continue;
    if (tries-- == 0) return Match::Unknown;
    if (match_words(pattern, command, std::span(pieces).subspan(i), true, workspaces) != Match::No)
      return Match::Unknown;
  }
  return Match::No;
}

bool knows_flag(const CommandPattern& pattern, std::string_view flag) {
  if (pattern.run.empty()) return true;
  const std::string_view subcommand =
      pattern.run.size() > 1 ? std::string_view(pattern.run[1]) : "";
  const std::string_view program = last_segment(pattern.run[0]);
  const Subcommand* sub = find_subcommand(program, subcommand);
  const Program* row = find_program(program);
  const bool complete = sub != nullptr ? sub->complete : row != nullptr && row->complete;
  if (!complete) return true;
  const std::vector<Option>& options = options_of(sub != nullptr ? sub->options : row->options);
  return std::ranges::any_of(options, [&](const Option& option) {
    return std::ranges::find(option.spellings, flag) != option.spellings.end();
  });
}

}  // namespace sallyport::effects
