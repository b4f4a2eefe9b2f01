#include "effects/shell_parser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sallyport::effects {

namespace {

constexpr auto kReserved = std::to_array<std::string_view>(
    {"if",    "then", "else",   "elif",     "fi",   "do",     "done", "case", "esac", "while",
     "until", "for",  "select", "function", "time", "coproc", "{",    "}",    "!",    "[["});

// Words that end a list of commands.
constexpr auto kClosing =
    std::to_array<std::string_view>({"then", "else", "elif", "fi", "do", "done", "esac", "}"});

// The text of a word that is one part without quotes and expansions. Empty for other words.
std::string_view bare_text(const WordSyntax& word) {
  if (word.parts.size() != 1) return {};
  const Part& part = word.parts.front();
  return part.kind == Part::Kind::Text && !part.quoted ? std::string_view(part.text) : "";
}

bool is_closing(std::string_view word) {
  return std::ranges::find(kClosing, word) != kClosing.end();
}

}  // namespace

bool is_reserved(std::string_view text) {
  return std::ranges::any_of(kReserved, [&](std::string_view word) {
    return word.size() == text.size() && word.front() == text.front() && word == text;
  });
}

ShellSyntax ShellParser::read() {
  ShellSyntax syntax;
  if (text_.size() > kMostBytes) {
    return {.failure = OpaqueSpan{OpaqueReason::Limit, 0, text_.size()}};
  }
  if (list(syntax.list) && !done()) fail();
  if (!failed() && !pending_.empty()) fail(OpaqueReason::Heredoc);
  syntax.failure = failure_;
  return syntax;
}

bool ShellParser::fail(OpaqueReason reason) {
  if (!failure_) failure_ = OpaqueSpan{reason, std::min(pos_, text_.size()), text_.size()};
  return false;
}

bool ShellParser::take(std::string_view token) {
  if (!starts(token)) return false;
  pos_ += token.size();
  return true;
}

void ShellParser::skip_blanks() {
  while (!done()) {
    if (at() == ' ' || at() == '\t') {
      ++pos_;
    } else if (at_continuation()) {
      pos_ += 2;
    } else {
      break;
    }
  }
  if (at() == '#') pos_ = std::min(text_.size(), text_.find('\n', pos_));
}

bool ShellParser::take_newline() {
  ++pos_;
  if (pending_.empty()) return true;
  // Shells disagree where the bodies are in this case.
  if (outer_pending_ > 0) return fail(OpaqueReason::Heredoc);
  return read_bodies();
}

bool ShellParser::skip_newlines() {
  bool any = false;
  for (skip_blanks(); at() == '\n'; skip_blanks()) {
    any = true;
    if (!take_newline()) return any;
  }
  return any;
}

bool ShellParser::list(CommandList& out) {
  while (true) {
    skip_newlines();
    if (failed()) return false;
    if (done() || at() == ')' || at() == ';' || is_closing(reserved_word())) return true;
    if (is_behind_document()) return fail(OpaqueReason::Heredoc);
    out.items.emplace_back();
    if (!and_or(out.items.back())) return false;
    skip_blanks();
    if (at() == ';' && at(1) != ';' && at(1) != '&') {
      ++pos_;
    } else if (at() == '&') {
      ++pos_;
      out.items.back().background = true;
    } else if (at() != '\n') {
      return true;
    }
  }
}

bool ShellParser::and_or(AndOrList& out) {
  while (true) {
    out.pipelines.emplace_back();
    if (!pipeline(out.pipelines.back())) return false;
    skip_blanks();
    const bool is_or = starts("||");
    if (!is_or && !starts("&&")) return true;
    pos_ += 2;
    out.is_or.push_back(is_or);
    skip_newlines();
    if (failed()) return false;
    if (is_behind_document()) return fail(OpaqueReason::Heredoc);
  }
}

bool ShellParser::pipeline(Pipeline& out) {
  while (true) {
    skip_blanks();
    const std::string_view word = reserved_word();
    if (word == "!") {
      ++pos_;
    } else if (word == "time") {
      timed_ = timed_ || substitutions_ > 0;
      pos_ += word.size();
      skip_blanks();
      // `-p` and `--` are options of the keyword; bash runs anything else.
      while (starts("-p ") || starts("-- ")) {
        pos_ += 2;
        skip_blanks();
      }
      if (at() == '-') return fail();
    } else {
      break;
    }
    skip_blanks();
    const bool nothing = done() || std::string_view("\n;)&|").contains(at());
    if (nothing) return word == "time" || word == "!" || fail();
  }
  while (true) {
    out.commands.emplace_back();
    if (!command(out.commands.back())) return false;
    skip_blanks();
    if (at() != '|' || at(1) == '|') return true;
    pos_ += at(1) == '&' ? 2 : 1;
    skip_newlines();
    if (failed()) return false;
    if (reserved_word() == "time" || reserved_word() == "!") return fail();
  }
}

// The reserved word that starts here as a whole word; otherwise empty. The last result is cached,
// because every rule of the grammar calls this.
std::string_view ShellParser::reserved_word() const {
  static constexpr CharTable kEnd(" \t\n|&;()<>\"'`$\\");
  static constexpr CharTable kJoins("\"'`$\\");
  static constexpr CharTable kFirst = [] {
    std::array<char, kReserved.size()> letters{};
    for (std::size_t i = 0; i < kReserved.size(); ++i) letters[i] = kReserved[i][0];
    return CharTable(std::string_view(letters.data(), letters.size()));
  }();
  if (done() || !kFirst.contains(text_[pos_])) return {};
  if (reserved_at_ == pos_) return reserved_;
  reserved_at_ = pos_;
  reserved_ = {};
  constexpr std::size_t kLongest = 8;
  std::size_t end = pos_;
  while (end < text_.size() && end - pos_ <= kLongest && !kEnd.contains(text_[end])) ++end;
  if (end - pos_ > kLongest) return {};
  const std::string_view word = text_.substr(pos_, end - pos_);
  if (end < text_.size() && kJoins.contains(text_[end])) return {};
  if (is_reserved(word)) reserved_ = word;
  return reserved_;
}

bool ShellParser::expect_reserved(std::string_view word) {
  skip_blanks();
  if (reserved_word() != word) return fail();
  pos_ += word.size();
  return true;
}

bool ShellParser::command(CommandSyntax& out) {
  skip_blanks();
  out.start = pos_;
  if (++commands_ > kMostCommands) return fail(OpaqueReason::Limit);
  const std::string_view word = reserved_word();
  if (word.empty() && at() != '(') return simple(out);
  if (++level_ > kMostLevels) return fail(OpaqueReason::Limit);
  const bool good = compound(out, word) && redirections(out);
  --level_;
  out.end = pos_;
  return good;
}

bool ShellParser::redirections(CommandSyntax& out) {
  for (skip_blanks(); at_redirection(); skip_blanks()) {
    if (!redirection(out)) return false;
  }
  return true;
}

bool ShellParser::simple(CommandSyntax& out) {
  for (skip_blanks(); !done(); skip_blanks()) {
    if (at_redirection()) {
      if (!redirection(out)) return false;
      continue;
    }
    const bool process = (at() == '<' || at() == '>') && at(1) == '(';
    if (at() == '(') {
      const bool first = out.words.size() == 1 && out.assignments.empty();
      return fail(first ? OpaqueReason::Function : OpaqueReason::Syntax);
    }
    static constexpr CharTable kEnds("\n|&;)<>");
    if (!process && kEnds.contains(at())) break;
    if (out.words.empty()) out.words.reserve(8);
    out.words.emplace_back();
    if (!word(out.words.back())) return false;
    const bool before_redirection = (at() == '<' || at() == '>') && at(1) != '(';
    // A number that a continued line separates from its redirection.
    const std::string_view bare = bare_text(out.words.back());
    const bool number = before_redirection && !bare.empty() &&
                        (std::ranges::all_of(bare, is_digit) || bare.starts_with('{'));
    if (out.words.size() == 1) {
      if (is_reserved(bare)) return fail();
      if (!assignment(out, out.words.back())) return false;
    }
    if (number) return fail();
  }
  out.end = pos_;
  const bool nothing = out.words.empty() && out.assignments.empty() && out.redirections.empty();
  out.complete = !nothing;
  return !nothing || fail();
}

// Moves the first word to the assignments if it is one.
bool ShellParser::assignment(CommandSyntax& out, WordSyntax& word) {
  Part& first = word.parts.front();
  if (first.kind != Part::Kind::Text || first.quoted) return true;
  std::size_t end = name_end(first.text, 0);
  constexpr CharTable kBehindName("[+=");
  // Most first words are not assignments and need no copy.
  if (end == 0 || end == first.text.size() || !kBehindName.contains(first.text[end])) return true;
  const std::string text = first.text;
  Assignment made{.name = text.substr(0, end)};
  if (text[end] == '[') {
    const std::size_t close = text.find(']', end);
    if (close == std::string::npos) return fail();
    made.subscript = text.substr(end + 1, close - end - 1);
    // bash reads brackets here as one word, with any content.
    if (!std::ranges::all_of(made.subscript,
                             [](char c) { return is_digit(c) || is_name({&c, 1}); })) {
      return fail();
    }
    made.element = true;
    end = close + 1;
  }
  if (end < text.size() && text[end] == '+') {
    made.append = true;
    ++end;
  }
  if (end >= text.size() || text[end] != '=') {
    // The bracket continues after a quote or an expansion.
    return !made.element || word.parts.size() == 1 || fail();
  }
  first.text.erase(0, end + 1);
  if (first.text.empty() && word.parts.size() == 1 && at() == '(') {
    if (made.element) return fail();
    out.words.pop_back();
    made.array = true;
    out.assignments.push_back(std::move(made));
    return array(out.assignments.back());
  }
  made.values.push_back(std::move(word));
  out.words.pop_back();
  out.assignments.push_back(std::move(made));
  return true;
}

bool ShellParser::array(Assignment& out) {
  ++pos_;
  for (skip_newlines(); at() != ')'; skip_newlines()) {
    if (failed()) return false;
    if (done() || std::string_view("[(&;|").contains(at())) return fail();
    if ((at() == '<' || at() == '>') && at(1) != '(') return fail();
    out.values.emplace_back();
    if (!word(out.values.back())) return false;
  }
  ++pos_;
  return done() || std::string_view(" \t\n;&|)<>").contains(at()) || fail();
}

bool ShellParser::at_redirection() const {
  std::size_t ahead = 0;
  while (is_digit(at(ahead))) ++ahead;
  const char c = at(ahead);
  if (c == '&') return ahead == 0 && at(1) == '>';
  if (c != '<' && c != '>') return false;
  return at(ahead + 1) != '(' || ahead > 0;
}

bool ShellParser::redirection(CommandSyntax& out) {
  std::string number;
  while (is_digit(at())) number += text_[pos_++];
  Redirection made;
  const bool both = take("&>>") || take("&>");
  if (both) {
    made.kind = Redirection::Kind::Write;
  } else if (take("<<<")) {
    made.kind = Redirection::Kind::HereString;
  } else if (starts("<<")) {
    made.kind = Redirection::Kind::HereDocument;
  } else if (take("<&") || take(">&")) {
    made.kind = Redirection::Kind::Duplicate;
  } else if (take("<>") || take(">>") || take(">|") || take(">")) {
    made.kind = Redirection::Kind::Write;
  } else {
    ++pos_;
  }
  const bool reads = made.kind == Redirection::Kind::Read ||
                     made.kind == Redirection::Kind::HereString ||
                     made.kind == Redirection::Kind::HereDocument ||
                     (made.kind == Redirection::Kind::Duplicate && text_[pos_ - 2] == '<');
  made.standard_input = reads && (number.empty() || number == "0");
  made.standard_output = !reads && (number.empty() || number == "1");
  if (made.kind == Redirection::Kind::HereDocument) return here_document(out, made);
  if (made.kind == Redirection::Kind::Duplicate) {
    made.reads = reads;
    made.numbered = !number.empty();
  }
  skip_blanks();
  if (at() == '(') return fail();
  const bool process = (at() == '<' || at() == '>') && at(1) == '(';
  if (!process && std::string_view("\n|&;()<>").contains(at())) return fail();
  out.redirections.push_back(std::move(made));
  return word(out.redirections.back().target);
}

bool ShellParser::here_document(CommandSyntax& out, Redirection& made) {
  pos_ += 2;
  Pending pending{.body = std::make_shared<WordSyntax>(), .strip_tabs = take("-")};
  skip_blanks();
  if (substitutions_ > 0 && ++documents_in_this_ > 1) return fail(OpaqueReason::Heredoc);
  WordSyntax delimiter;
  if (!word(delimiter)) return false;
  for (const Part& part : delimiter.parts) {
    if (part.kind != Part::Kind::Text) return fail(OpaqueReason::Heredoc);
    pending.quoted = pending.quoted || part.quoted;
    pending.delimiter += part.text;
  }
  if (pending.delimiter.find('\n') != std::string::npos) return fail(OpaqueReason::Heredoc);
  made.body = pending.body;
  made.body->start = delimiter.start;
  made.body->end = delimiter.end;
  pending_.push_back(std::move(pending));
  out.redirections.push_back(std::move(made));
  return true;
}

bool ShellParser::read_bodies() {
  const std::vector<Pending> pending = std::exchange(pending_, {});
  for (const Pending& document : pending) {
    std::string body;
    for (bool found = false; !found;) {
      if (done()) return fail(OpaqueReason::Heredoc);
      std::string line;
      // In an expanding body, a backslash joins a line with the next one, also the last line.
      while (!done() && at() != '\n') {
        if (!document.quoted && at() == '\\' && pos_ + 1 < text_.size()) {
          if (at(1) == '\n') {
            pos_ += 2;
            continue;
          }
          line += text_[pos_++];
        }
        line += text_[pos_++];
      }
      if (!done()) ++pos_;
      std::string_view rest = line;
      while (document.strip_tabs && rest.starts_with('\t')) rest.remove_prefix(1);
      found = rest == document.delimiter;
      if (!found) (body += rest) += '\n';
    }
    if (document.quoted) {
      document.body->parts.push_back({.quoted = true, .text = std::move(body)});
      continue;
    }
    if (level_ >= kMostLevels) return fail(OpaqueReason::Limit);
    ShellParser parser(body, level_ + 1, commands_);
    const ShellSyntax syntax = parser.read_body(*document.body);
    if (syntax.failure) return fail(syntax.failure->reason);
  }
  return true;
}

}  // namespace sallyport::effects
