// Parses POSIX shell and the parts of bash that RU-43 names. In doubt the parser fails and never
// guesses. It makes one pass without backtracking, so time is linear.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "effects/shell_syntax.h"

namespace sallyport::effects {

class ShellParser {
 public:
  // `level`: the nesting depth of the text. `commands`: the number of commands read so far; the
  // parser increases it.
  ShellParser(std::string_view text, int level, std::size_t& commands)
      : text_(text), level_(level), commands_(commands) {}

  ShellSyntax read();

  // Reads the body of an expanding here-document, in which quotes are ordinary letters.
  ShellSyntax read_body(WordSyntax& out);

 private:
  enum class Quote { None, Double, Body };
  class Level;

  // Characters.
  bool done() const { return pos_ >= text_.size(); }
  char at(std::size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  bool starts(std::string_view prefix) const { return text_.substr(pos_).starts_with(prefix); }
  bool take(std::string_view token);
  bool at_continuation() const { return at() == '\\' && at(1) == '\n'; }
  void skip_blanks();
  bool skip_newlines();  // true if there was one
  bool take_newline();
  bool fail(OpaqueReason reason = OpaqueReason::Syntax);
  bool failed() const { return failure_.has_value(); }

  // Grammar (shell_parser.cc). Each function returns false after a failure and keeps what it read.
  bool list(CommandList& out);
  bool and_or(AndOrList& out);
  bool pipeline(Pipeline& out);
  bool command(CommandSyntax& out);
  bool simple(CommandSyntax& out);
  bool redirections(CommandSyntax& out);
  std::string_view reserved_word() const;
  bool expect_reserved(std::string_view word);
  bool at_redirection() const;
  bool redirection(CommandSyntax& out);
  bool here_document(CommandSyntax& out, Redirection& redirection);
  bool read_bodies();
  // True after a here-document inside a substitution. bash 5.2 prints a substitution and reads it
  // again, and there it loses the separator of commands.
  bool is_behind_document() const { return substitutions_ > 0 && documents_in_this_ > 0; }
  bool assignment(CommandSyntax& out, WordSyntax& word);
  bool array(Assignment& out);

  // Compound commands (shell_parser_compound.cc).
  bool compound(CommandSyntax& out, std::string_view word);
  bool compound_list(CommandSyntax& out);
  bool if_command(CommandSyntax& out);
  bool loop(CommandSyntax& out);
  bool for_command(CommandSyntax& out);
  bool case_command(CommandSyntax& out);
  bool condition(CommandSyntax& out);
  bool arithmetic_command(CommandSyntax& out);

  // Words (shell_parser_words.cc).
  bool word(WordSyntax& out, bool in_condition = false);
  bool word_piece(std::vector<Part>& parts, bool in_condition);
  bool single_quoted(std::vector<Part>& parts);
  bool ansi_quoted(std::vector<Part>& parts);
  bool double_quoted(std::vector<Part>& parts);
  bool dollar(std::vector<Part>& parts, Quote quote);
  bool braced(std::vector<Part>& parts, Quote quote);
  bool braced_operand(Part& out, Quote quote);
  bool arithmetic(std::vector<Part>& parts, char open, char close);
  bool backticks(std::vector<Part>& parts, Quote quote);
  bool substitution(std::vector<Part>& parts, Part::Kind kind, bool quoted);

  std::string_view text_;
  std::size_t pos_ = 0;
  int level_;
  std::size_t& commands_;
  std::optional<OpaqueSpan> failure_{};
  mutable std::size_t reserved_at_ = std::string_view::npos;
  mutable std::string_view reserved_{};

  struct Pending {
    std::shared_ptr<WordSyntax> body{};
    std::string delimiter{};
    bool strip_tabs = false;
    bool quoted = false;
  };
  std::vector<Pending> pending_{};     // here-documents whose bodies start after the next newline
  std::size_t outer_pending_ = 0;      // how many of them are outside of this substitution
  std::size_t documents_in_this_ = 0;  // here-documents of this substitution
  int substitutions_ = 0;
  // `time` was read in this substitution or in an outer one. bash 5.2 then takes the bracket of a
  // `case` pattern for the end of the substitution.
  bool timed_ = false;
};

// A set of ASCII characters with a fast lookup.
class CharTable {
 public:
  constexpr explicit CharTable(std::string_view members) {
    for (const char c : members) in_[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool contains(char c) const { return in_[static_cast<unsigned char>(c)]; }

 private:
  std::array<bool, 256> in_{};
};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(std::string_view text);
// The end of the name that starts at `at`; `at` if there is no name.
std::size_t name_end(std::string_view text, std::size_t at);
bool is_reserved(std::string_view text);

}  // namespace sallyport::effects
