// Reads the text after a backslash, inside and outside of a character class.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "match/expression.h"

namespace sallyport::match {

// The characters of a pattern and the current place.
class PatternCursor {
 public:
  explicit PatternCursor(std::string_view text);

  bool done() const { return at_ >= characters_.size(); }
  // Returns 0 after the end; `done` distinguishes it from a NUL in the pattern.
  char32_t peek(std::size_t ahead = 0) const {
    return at_ + ahead < characters_.size() ? characters_[at_ + ahead] : 0;
  }
  bool looking_at(std::string_view ascii) const;
  bool take(std::string_view ascii);
  char32_t next() { return done() ? 0 : characters_[at_++]; }
  void skip(std::size_t count) { at_ += count; }
  std::size_t place() const { return at_; }

  // The error that refuses the pattern; `cause` is as in `parse`.
  std::unexpected<Error> refuse(const char* cause, std::string_view what) const;

 private:
  std::string_view text_;
  std::vector<char32_t> characters_;
  std::vector<std::size_t> offsets_;
  std::size_t at_ = 0;
};

using Escape = std::variant<char32_t, CharSet, Assertion>;

// The cursor is after the backslash. The caller handles \Q and \E.
Result<Escape> read_escape(PatternCursor& cursor, Alphabet alphabet, bool in_class);

}  // namespace sallyport::match
