#include "effects/sql.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/lower_case.h"

namespace sallyport::effects {

namespace {

using Name = std::string_view;

constexpr Name kReading[] = {"select", "show", "describe", "desc", "values"};
constexpr Name kCarrying[] = {"with", "explain"};  // they read, unless a later word writes
constexpr Name kSchema[] = {"create", "alter", "drop", "truncate", "rename", "grant", "revoke"};
constexpr Name kWriting[] = {"insert", "update", "delete", "merge",    "replace", "upsert",
                             "into",   "call",   "copy",   "truncate", "create",  "alter",
                             "drop",   "grant",  "revoke", "do",       "load",    "execute"};
constexpr std::size_t kMostStatements = 1024;

bool is_one_of(std::span<const Name> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Words of one statement outside strings and comments, in lower case.
struct Statement {
  std::string first{};
  bool writes = false;  // a word after the first one writes
  bool stores = false;  // `into`
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // A place where dialects differ: the rest may be text in one and code in another.
  bool doubtful() const { return doubtful_; }
  std::vector<Statement> read() {
    while (at_ < text_.size()) step();
    end_statement();
    return std::move(statements_);
  }

 private:
  char next(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void step() {
    const char c = next();
    if (c == ';') {
      end_statement();
      ++at_;
    } else if (c == '\'' || c == '"' || c == '`') {
      skip_quoted(c);
    } else if (c == '-' && next(1) == '-') {
      const char behind = next(2);
      doubtful_ = doubtful_ || (behind != ' ' && behind != '\t' && behind != '\n' &&
                                behind != '\r' && behind != '\0');
      skip_line();
    } else if (c == '/' && next(1) == '*') {
      skip_comment();
    } else if (c == '[') {
      // Some dialects read a name up to `]`.
      doubtful_ = doubtful_ || hides_code();
      ++at_;
    } else if (c == '#' || (c == '$' && (next(1) == '$' || is_word(next(1))) && dollar_quotes())) {
      doubtful_ = true;
      ++at_;
    } else if (is_word(c)) {
      take_word();
    } else {
      ++at_;
    }
  }

  // `$tag$`, where PostgreSQL begins a string.
  bool dollar_quotes() const {
    std::size_t i = at_ + 1;
    while (i < text_.size() && is_word(text_[i])) ++i;
    return i < text_.size() && text_[i] == '$';
  }

  // True if a reader that takes `[..]` as one name and a reader that does not may be at different
  // places after it.
  bool hides_code() {
    // This bracket is in one that was checked.
    if (at_ < checked_) return false;
    const std::size_t close = std::min(text_.size(), text_.find(']', at_));
    checked_ = close;
    // `]]` is a bracket in a name.
    if (close + 1 < text_.size() && text_[close + 1] == ']') return true;
    for (std::size_t i = at_ + 1; i < close; ++i) {
      const char c = text_[i];
      const char behind = i + 1 < text_.size() ? text_[i + 1] : '\0';
      if (c == ';' || (c == '-' && behind == '-') || (c == '/' && behind == '*')) return true;
      if (c != '\'' && c != '"' && c != '`') continue;
      i = text_.find(c, i + 1);
      if (i == std::string_view::npos || i > close) return true;
    }
    return false;
  }

  // A doubled quote ends one string and begins the next.
  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && (next(1) == quote || next(1) == '\\')) doubtful_ = true;
      ++at_;
    }
    doubtful_ = doubtful_ || at_ >= text_.size();
    ++at_;
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    // Not every dialect ends a line there.
    doubtful_ = doubtful_ || (next() == '\r' && next(1) != '\n');
  }

  void skip_comment() {
    // MySQL and MariaDB run what is in `/*! */` and `/*M! */`.
    doubtful_ = doubtful_ || next(2) == '!' || (lower_letter(next(2)) == 'm' && next(3) == '!');
    const std::size_t end = text_.find("*/", at_ + 2);
    const std::size_t inner = text_.find("/*", at_ + 2);
    doubtful_ = doubtful_ || end == std::string_view::npos || inner < end;
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
  }

  void take_word() {
    std::string word;
    for (; at_ < text_.size() && is_word(text_[at_]); ++at_) word += lower_letter(text_[at_]);
    // Oracle reads `q'[..]'` as one string.
    doubtful_ = doubtful_ || (next() == '\'' && (word == "q" || word == "nq"));
    if (current_.first.empty()) {
      current_.first = std::move(word);
      return;
    }
    current_.writes = current_.writes || is_one_of(kWriting, word);
    current_.stores = current_.stores || word == "into";
  }

  void end_statement() {
    if (!current_.first.empty() && statements_.size() < kMostStatements) {
      statements_.push_back(std::move(current_));
    } else if (!current_.first.empty()) {
      doubtful_ = true;
    }
    current_ = {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t checked_ = 0;  // up to here, brackets hide no code
  bool doubtful_ = false;
  Statement current_;
  std::vector<Statement> statements_;
};

std::string_view class_of(const Statement& statement) {
  if (is_one_of(kSchema, statement.first)) return "db.schema";
  if (is_one_of(kReading, statement.first)) return statement.stores ? "db.write" : "db.read";
  if (is_one_of(kCarrying, statement.first)) return statement.writes ? "db.write" : "db.read";
  return "db.write";
}

}  // namespace

std::vector<Effect> effects_of_sql(std::string_view text) {
  Reader reader(text);
  std::vector<Effect> effects;
  for (const Statement& statement : reader.read()) {
    Effect effect{.effect_class = std::string(class_of(statement))};
    if (std::ranges::find(effects, effect) == effects.end()) effects.push_back(std::move(effect));
  }
  if (reader.doubtful() || effects.empty()) {
    effects.push_back({.effect_class = "db.write", .opaque = true});
  }
  return effects;
}

}  // namespace sallyport::effects
