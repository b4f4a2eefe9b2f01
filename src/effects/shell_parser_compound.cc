// Parses compound commands: groups, branches, loops, conditions.
#include "effects/shell_parser.h"

namespace sallyport::effects {

bool ShellParser::compound(CommandSyntax& out, std::string_view word) {
  if (word == "function") return fail(OpaqueReason::Function);
  if (word == "if") return if_command(out);
  if (word == "while" || word == "until") return loop(out);
  if (word == "for") return for_command(out);
  if (word == "case") return case_command(out);
  if (word == "[[") return condition(out);
  if (word == "{") {
    ++pos_;
    out.kind = CommandSyntax::Kind::Group;
    return compound_list(out) && expect_reserved("}");
  }
  if (starts("((")) return arithmetic_command(out);
  if (at() != '(' || starts("(\\\n")) return fail();  // `select`, `coproc`, a closing word
  ++pos_;
  out.kind = CommandSyntax::Kind::Subshell;
  if (!compound_list(out)) return false;
  return take(")") || fail();
}

// A list with at least one command.
bool ShellParser::compound_list(CommandSyntax& out) {
  out.lists.push_back(std::make_shared<CommandList>());
  return list(*out.lists.back()) && (!out.lists.back()->items.empty() || fail());
}

bool ShellParser::if_command(CommandSyntax& out) {
  out.kind = CommandSyntax::Kind::If;
  pos_ += 2;
  while (true) {
    if (!compound_list(out) || !expect_reserved("then") || !compound_list(out)) return false;
    skip_blanks();
    if (reserved_word() != "elif") break;
    pos_ += 4;
  }
  if (reserved_word() == "else") {
    pos_ += 4;
    out.has_else = true;
    if (!compound_list(out)) return false;
  }
  return expect_reserved("fi");
}

bool ShellParser::loop(CommandSyntax& out) {
  out.kind = CommandSyntax::Kind::Loop;
  pos_ += 5;
  return compound_list(out) && expect_reserved("do") && compound_list(out) &&
         expect_reserved("done");
}

bool ShellParser::for_command(CommandSyntax& out) {
  out.kind = CommandSyntax::Kind::For;
  pos_ += 3;
  skip_blanks();
  if (starts("((")) {
    if (!arithmetic_command(out)) return false;
    out.kind = CommandSyntax::Kind::Loop;
    skip_blanks();
    if (at() == ';') ++pos_;
    skip_newlines();
    if (failed()) return false;
    return expect_reserved("do") && compound_list(out) && expect_reserved("done");
  }
  WordSyntax name;
  if (!word(name)) return false;
  const std::optional<std::string> bare = name.bare();
  if (!bare || !is_name(*bare)) return fail();
  out.name = *bare;
  const bool newline = skip_newlines();
  if (failed()) return false;
  const bool in =
      starts("in") && (pos_ + 2 >= text_.size() || std::string_view(" \t\n;").contains(at(2)));
  if (in) {
    pos_ += 2;
    out.has_in = true;
    for (skip_blanks(); !std::string_view("\n;|&)").contains(at()) && !done(); skip_blanks()) {
      if (at() == '(' || ((at() == '<' || at() == '>') && at(1) != '(')) return fail();
      out.words.emplace_back();
      if (!word(out.words.back())) return false;
    }
    if (at() != '\n' && at() != ';') return fail();
  }
  if (at() == ';') {
    if (newline && !in) return fail();
    ++pos_;
  }
  skip_newlines();
  if (failed()) return false;
  return expect_reserved("do") && compound_list(out) && expect_reserved("done");
}

bool ShellParser::case_command(CommandSyntax& out) {
  if (timed_) return fail();
  out.kind = CommandSyntax::Kind::Case;
  pos_ += 4;
  skip_blanks();
  out.words.emplace_back();
  if (!word(out.words.back())) return false;
  skip_newlines();
  if (failed()) return false;
  if (!starts("in") || !std::string_view(" \t\n").contains(at(2))) return fail();
  pos_ += 2;
  while (true) {
    skip_newlines();
    if (failed()) return false;
    if (reserved_word() == "esac") break;
    if (at() == '(') {
      ++pos_;
      skip_blanks();
    }
    while (true) {
      skip_blanks();
      out.words.emplace_back();
      if (!word(out.words.back())) return false;
      skip_blanks();
      if (at() != '|') break;
      ++pos_;
    }
    if (!take(")")) return fail();
    out.lists.push_back(std::make_shared<CommandList>());
    if (!list(*out.lists.back())) return false;
    skip_blanks();
    if (!take(";;&") && !take(";;") && !take(";&")) {
      if (reserved_word() != "esac") return fail();
      break;
    }
  }
  return expect_reserved("esac");
}

// `[[ ... ]]`: its words, operators included.
bool ShellParser::condition(CommandSyntax& out) {
  out.kind = CommandSyntax::Kind::Condition;
  pos_ += 2;
  bool pattern = false;
  while (true) {
    skip_newlines();
    if (failed()) return false;
    if (done()) return fail();
    if (!pattern && (take("&&") || take("||") || take("(") || take(")"))) continue;
    if ((at() == '<' || at() == '>') && at(1) == '(') return fail();
    out.words.emplace_back();
    WordSyntax& made = out.words.back();
    if (!pattern && (at() == '<' || at() == '>')) {
      made.parts.push_back({.text = std::string(1, at())});
      ++pos_;
      continue;
    }
    if (!pattern) {
      if (!word(made, true)) return false;
      const std::optional<std::string> bare = made.bare();
      if (bare == "]]") break;
      pattern = bare == "=~" || bare == "==" || bare == "!=" || bare == "=";
      continue;
    }
    pattern = false;
    made.start = pos_;
    for (int depth = 0; !done();) {
      const char c = at();
      if (at_continuation() || c == '\n') return fail();
      if (depth == 0 && (c == ' ' || c == '\t' || c == ')')) break;
      if (depth == 0 && (c == '&' || c == ';' || c == '<' || c == '>')) return fail();
      if (c == '#' && made.parts.empty()) return fail();
      if ((c == '<' || c == '>') && at(1) == '(') return fail();
      if (c == '(' || c == ')' || c == '|' || c == ' ' || c == '\t' || c == '&' || c == ';' ||
          c == '<' || c == '>') {
        if (c == '(') ++depth;
        if (c == ')') --depth;
        made.parts.push_back({.text = std::string(1, c)});
        ++pos_;
      } else if (!word_piece(made.parts, true)) {
        return false;
      }
    }
    if (made.parts.empty()) return fail();
    made.end = pos_;
  }
  out.words.pop_back();
  return true;
}

bool ShellParser::arithmetic_command(CommandSyntax& out) {
  out.kind = CommandSyntax::Kind::Arithmetic;
  pos_ += 2;
  if (!arithmetic(out.parts, '(', ')')) return false;
  return take(")") || fail();
}

}  // namespace sallyport::effects
