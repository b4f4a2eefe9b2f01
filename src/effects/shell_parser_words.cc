// The part of ShellParser that reads words: quotes, expansions and substitutions.
#include <algorithm>
#include <utility>

#include "base/encoding.h"
#include "base/lower_case.h"
#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name_letter(char c) {
  return is_name_start(c) || is_digit(c);
}

constexpr CharTable kMeta(" \t\n|&;()<>");
// Characters that are special in a word or end it. The text between two of them is taken at once.
constexpr CharTable kSpecial(" \t\n|&;()<>'\"`$\\");

bool is_meta(char c) {
  return kMeta.contains(c);
}

// The last part if it is text, to which more is added.
std::string& text_at_end(std::vector<Part>& parts, bool quoted) {
  if (parts.empty() || parts.back().kind != Part::Kind::Text || parts.back().quoted != quoted) {
    parts.emplace_back().quoted = quoted;
  }
  return parts.back().text;
}

void add_text(std::vector<Part>& parts, char c, bool quoted) {
  text_at_end(parts, quoted) += c;
}

// Quotes around nothing still make a word.
void add_empty(std::vector<Part>& parts) {
  (void)text_at_end(parts, true);
}

int digit_value(char c) {
  return hex_digit(lower_letter(c));
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::ranges::all_of(text, is_name_letter);
}

std::size_t name_end(std::string_view text, std::size_t at) {
  if (at >= text.size() || !is_name_start(text[at])) return at;
  while (at < text.size() && is_name_letter(text[at])) ++at;
  return at;
}

// Counts one level of nesting during its lifetime.
class ShellParser::Level {
 public:
  explicit Level(ShellParser& parser) : parser_(parser) { ++parser_.level_; }
  ~Level() { --parser_.level_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  ShellParser& parser_;
};

bool ShellParser::word(WordSyntax& out, bool in_condition) {
  out.start = pos_;
  while (!done()) {
    if (at_continuation()) {
      pos_ += 2;
      continue;
    }
    const char c = at();
    if ((c == '<' || c == '>') && at(1) == '(' && !in_condition) {
      // Shells differ for the middle of a word.
      if (!out.parts.empty()) return fail();
    } else if (is_meta(c)) {
      break;
    }
    if (!word_piece(out.parts, in_condition)) return false;
  }
  out.end = pos_;
  return !out.parts.empty() || fail();
}

bool ShellParser::word_piece(std::vector<Part>& parts, bool in_condition) {
  switch (at()) {
    case '\'':
      return single_quoted(parts);
    case '"':
      return double_quoted(parts);
    case '`':
      return backticks(parts, Quote::None);
    case '$':
      return dollar(parts, Quote::None);
    case '\\':
      if (pos_ + 1 >= text_.size()) return fail();
      add_text(parts, at(1), true);
      pos_ += 2;
      return true;
    case '<':
    case '>':
      if (in_condition) return fail();
      ++pos_;
      return substitution(parts, Part::Kind::Process, false);
    default: {
      const std::size_t begin = pos_++;
      while (pos_ < text_.size() && !kSpecial.contains(text_[pos_])) ++pos_;
      text_at_end(parts, false) += text_.substr(begin, pos_ - begin);
      return true;
    }
  }
}

bool ShellParser::single_quoted(std::vector<Part>& parts) {
  const std::size_t end = text_.find('\'', pos_ + 1);
  if (end == std::string_view::npos) return fail();
  const std::string_view inner = text_.substr(pos_ + 1, end - pos_ - 1);
  if (!pending_.empty() && inner.find('\n') != std::string_view::npos) {
    return fail(OpaqueReason::Heredoc);
  }
  add_empty(parts);
  parts.back().text += inner;
  pos_ = end + 1;
  return true;
}

// `$'...'`: text that depends on the locale is unknown.
bool ShellParser::ansi_quoted(std::vector<Part>& parts) {
  pos_ += 2;
  std::string text;
  bool known = true;
  while (at() != '\'') {
    if (done() || (at() == '\n' && !pending_.empty())) return fail();
    if (at() != '\\') {
      text += at();
      ++pos_;
      continue;
    }
    const char escape = at(1);
    pos_ += 2;
    constexpr std::string_view kNames = "abeEfnrtv";
    constexpr std::string_view kValues = "\a\b\x1b\x1b\f\n\r\t\v";
    if (const std::size_t index = kNames.find(escape); index != std::string_view::npos) {
      text += kValues[index];
    } else if (std::string_view("\\'\"?").find(escape) != std::string_view::npos) {
      text += escape;
    } else if (escape >= '0' && escape <= '7') {
      int value = escape - '0';
      for (int i = 0; i < 2 && at() >= '0' && at() <= '7'; ++i, ++pos_)
        value = value * 8 + at() - '0';
      if ((value & 0xff) == 0) return fail(OpaqueReason::Encoding);
      text += static_cast<char>(value & 0xff);
    } else if (escape == 'x' && digit_value(at()) >= 0) {
      int value = 0;
      for (int i = 0; i < 2 && digit_value(at()) >= 0; ++i, ++pos_) {
        value = value * 16 + digit_value(at());
      }
      if (value == 0) return fail(OpaqueReason::Encoding);
      text += static_cast<char>(value);
    } else if ((escape == 'u' || escape == 'U') && digit_value(at()) >= 0) {
      unsigned value = 0;
      for (int i = 0; i < (escape == 'u' ? 4 : 8) && digit_value(at()) >= 0; ++i, ++pos_) {
        value = value * 16 + static_cast<unsigned>(digit_value(at()));
      }
      if (value == 0) return fail(OpaqueReason::Encoding);
      if (value < 0x80) {
        text += static_cast<char>(value);
      } else {
        known = false;
      }
    } else if (escape == 'c' || escape == 'x' || escape == '\0') {
      return fail(OpaqueReason::Encoding);
    } else {
      text += '\\';
      text += escape;
    }
  }
  ++pos_;
  if (known) {
    add_empty(parts);
    parts.back().text += text;
  } else {
    parts.push_back({.kind = Part::Kind::Unknown, .quoted = true});
  }
  return true;
}

bool ShellParser::double_quoted(std::vector<Part>& parts) {
  ++pos_;
  add_empty(parts);
  while (at() != '"' || done()) {
    if (done()) return fail();
    if (at_continuation()) {
      pos_ += 2;
      continue;
    }
    switch (at()) {
      case '`':
        if (!backticks(parts, Quote::Double)) return false;
        break;
      case '$':
        if (!dollar(parts, Quote::Double)) return false;
        break;
      case '\\':
        if (std::string_view("$`\"\\").find(at(1)) != std::string_view::npos) ++pos_;
        add_text(parts, at(), true);
        ++pos_;
        break;
      case '\n':
        if (!pending_.empty()) return fail(OpaqueReason::Heredoc);
        [[fallthrough]];
      default:
        add_text(parts, at(), true);
        ++pos_;
    }
  }
  ++pos_;
  return true;
}

bool ShellParser::dollar(std::vector<Part>& parts, Quote quote) {
  const bool quoted = quote != Quote::None;
  const char next = at(1);
  if (next == '\'' && !quoted) return ansi_quoted(parts);
  if (next == '"' && !quoted) {
    ++pos_;
    return double_quoted(parts);
  }
  if (next == '{') return braced(parts, quote);
  if (next == '(') {
    if (at(2) == '\\' && at(3) == '\n') return fail();
    if (at(2) == '(') {
      pos_ += 3;
      if (!arithmetic(parts, '(', ')')) return false;
      parts.back().quoted = quoted;
      return take(")") || fail();
    }
    ++pos_;
    return substitution(parts, Part::Kind::Command, quoted);
  }
  if (next == '[') {
    pos_ += 2;
    if (!arithmetic(parts, '[', ']')) return false;
    parts.back().quoted = quoted;
    return true;
  }
  if (next == '\\' && at(2) == '\n') return fail();
  std::size_t end = pos_ + 1;
  if (is_name_start(next)) {
    while (end < text_.size() && is_name_letter(text_[end])) ++end;
    if (text_.substr(end).starts_with("\\\n")) return fail();
  } else if (is_digit(next) || (next != '\0' && std::string_view("@*#?-$!").contains(next))) {
    ++end;
  } else {
    add_text(parts, '$', quoted);
    ++pos_;
    return true;
  }
  parts.push_back({.kind = Part::Kind::Parameter,
                   .quoted = quoted,
                   .text = std::string(text_.substr(pos_ + 1, end - pos_ - 1)),
                   .plain = true,
                   .bare = is_name_start(next)});
  pos_ = end;
  return true;
}

// `${...}`. Its value is known only without an operator. Commands in the operator's words count.
bool ShellParser::braced(std::vector<Part>& parts, Quote quote) {
  const Level level(*this);
  if (level_ > kMostLevels) return fail(OpaqueReason::Limit);
  pos_ += 2;
  Part part{.kind = Part::Kind::Parameter, .quoted = quote != Quote::None};
  const bool length = at() == '#' && at(1) != '}';
  // `${!name}` takes its name from a value and evaluates brackets in that value.
  if (at() == '!' && at(1) != '}') return fail(OpaqueReason::Expansion);
  if (length) ++pos_;
  std::size_t end = pos_;
  if (is_name_start(at())) {
    while (end < text_.size() && is_name_letter(text_[end])) ++end;
  } else if (is_digit(at())) {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  } else if (!done() && std::string_view("@*#?-$!").contains(at())) {
    ++end;
  }
  if (end == pos_) return fail();
  part.text = std::string(text_.substr(pos_, end - pos_));
  pos_ = end;
  if (at() == '[') {
    ++pos_;
    if ((at() == '@' || at() == '*') && at(1) == ']') {
      part.text += "[@]";
      pos_ += 2;
    } else {
      part.arithmetic = true;
      std::vector<Part> subscript;
      if (!arithmetic(subscript, '[', ']')) return false;
      part.inside.push_back(std::move(subscript[0]));
    }
  }
  if (at() == '}') {
    ++pos_;
    part.plain = !length && !part.arithmetic;
    parts.push_back(std::move(part));
    return true;
  }
  if (length) return fail();
  // `${x@P}` expands the value again, as a prompt, and so runs commands in it.
  if (at() == '@') return fail(OpaqueReason::Expansion);
  if (std::string_view(":-=?+#%/^,").find(at()) == std::string_view::npos) return fail();
  if (at() == ':' && std::string_view("-=?+").find(at(1)) == std::string_view::npos) {
    part.arithmetic = true;
    ++pos_;
  }
  if (!braced_operand(part, quote)) return false;
  parts.push_back(std::move(part));
  return true;
}

bool ShellParser::braced_operand(Part& out, Quote quote) {
  // Shells differ in the meaning of quotes inside quotes.
  while (at() != '}' || done()) {
    if (done()) return fail();
    if (at_continuation()) {
      pos_ += 2;
      continue;
    }
    const char c = at();
    const bool special = c == '$' || c == '`' || c == '\\';
    if (quote != Quote::None) {
      if (c == '\'' || c == '"') return fail();
      if (c == '$' && (at(1) == '\'' || at(1) == '"')) return fail();
    }
    if (out.arithmetic && (c == '\'' || c == '"' || c == '\\')) return fail();
    if ((c == '<' || c == '>') && at(1) == '(') return fail();
    if (c == '\n' && !pending_.empty()) return fail(OpaqueReason::Heredoc);
    // An unbalanced closing brace ends the expansion earlier than it seems.
    if (c == '{') return fail();
    if (special && quote != Quote::None) {
      if (c == '$' && !dollar(out.inside, quote)) return false;
      if (c == '`' && !backticks(out.inside, quote)) return false;
      if (c == '\\') {
        add_text(out.inside, at(1), true);
        pos_ += 2;
      }
    } else if (special || c == '\'' || c == '"') {
      if (!word_piece(out.inside, false)) return false;
    } else {
      add_text(out.inside, c, quote != Quote::None);
      ++pos_;
    }
  }
  ++pos_;
  return true;
}

// Starts after the opening and ends after the first closing one. Adds one part.
bool ShellParser::arithmetic(std::vector<Part>& parts, char open, char close) {
  const Level level(*this);
  if (level_ > kMostLevels) return fail(OpaqueReason::Limit);
  Part part{.kind = Part::Kind::Arithmetic};
  for (int depth = 1; depth > 0;) {
    if (done()) return fail();
    if (at_continuation()) return fail();
    const char c = at();
    if (c == '\'' || c == '"' || c == '\\') return fail();
    if (c == '\n' && !pending_.empty()) return fail(OpaqueReason::Heredoc);
    if (c == '$') {
      if (!dollar(part.inside, Quote::Double)) return false;
    } else if (c == '`') {
      if (!backticks(part.inside, Quote::Double)) return false;
    } else {
      if (c == open) ++depth;
      if (c == close) --depth;
      if (depth > 0) add_text(part.inside, c, true);
      ++pos_;
    }
  }
  parts.push_back(std::move(part));
  return true;
}

bool ShellParser::backticks(std::vector<Part>& parts, Quote quote) {
  const std::size_t start = pos_++;
  std::string inner;
  while (at() != '`') {
    if (done() || at_continuation()) return fail();
    if (at() == '\n' && !pending_.empty()) return fail(OpaqueReason::Heredoc);
    if (at() == '\\') {
      if (at(1) == '"' && quote != Quote::None) return fail();
      if (std::string_view("`\\$").contains(at(1))) ++pos_;
    }
    if (done()) return fail();
    inner += at();
    ++pos_;
  }
  ++pos_;
  if (level_ >= kMostLevels) return fail(OpaqueReason::Limit);
  ShellParser parser(inner, level_ + 1, commands_);
  ShellSyntax syntax = parser.read();
  parts.push_back({.kind = Part::Kind::Command,
                   .quoted = quote != Quote::None,
                   .list = std::make_shared<CommandList>(std::move(syntax.list))});
  if (syntax.failure) {
    pos_ = start;
    return fail(syntax.failure->reason);
  }
  return true;
}

// Starts at the parenthesis.
bool ShellParser::substitution(std::vector<Part>& parts, Part::Kind kind, bool quoted) {
  const Level level(*this);
  if (level_ > kMostLevels) return fail(OpaqueReason::Limit);
  ++pos_;
  const std::size_t outer = std::exchange(outer_pending_, pending_.size());
  const std::size_t documents = std::exchange(documents_in_this_, 0);
  const bool timed = timed_;
  ++substitutions_;
  parts.push_back({.kind = kind, .quoted = quoted, .list = std::make_shared<CommandList>()});
  // The list is filled in place, so that its content counts even if the rest cannot be read.
  const std::shared_ptr<CommandList> target = parts.back().list;
  if (!list(*target)) return false;
  if (pending_.size() > outer_pending_) return fail(OpaqueReason::Heredoc);
  --substitutions_;
  timed_ = timed;
  if (substitutions_ > 0)
    documents_in_this_ += documents;
  else
    documents_in_this_ = 0;
  outer_pending_ = outer;
  return take(")") || fail();
}

ShellSyntax ShellParser::read_body(WordSyntax& out) {
  while (!done() && !failed()) {
    if (at_continuation()) {
      pos_ += 2;
    } else if (at() == '$') {
      dollar(out.parts, Quote::Body);
    } else if (at() == '`') {
      backticks(out.parts, Quote::Body);
    } else {
      if (at() == '\\' && std::string_view("$`\\").contains(at(1)) && pos_ + 1 < text_.size())
        ++pos_;
      add_text(out.parts, at(), true);
      ++pos_;
    }
  }
  return {.failure = failure_};
}

}  // namespace sallyport::effects
