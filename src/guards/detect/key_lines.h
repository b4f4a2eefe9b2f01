// The lines of a private key, and what other programs write between them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sallyport::guards {

// Skips what may be between two lines of a key: line ends, also escaped, indentation, quotes and
// commas of program code, marks of quoted mail.
std::size_t skip_between(std::string_view text, std::size_t at);

// What a program wrote before the BEGIN line whose dashes begin at `dashes`, if it may have written
// the same before every line: numbers (`     1\t`, `1→`), a file and a number (`id_rsa:1:`), marks
// (`# `, `│ `, `-`). Empty: there is nothing, or a text that must stay visible.
std::string_view line_prefix(std::string_view text, std::size_t dashes);

// Moves from line to line of a key.
class KeyLines {
 public:
  // `prefix` is part of `text`, and before every line, with other numbers and blanks. Empty: what
  // is between lines is what `skip_between` skips.
  KeyLines(std::string_view text, std::string_view prefix) : text_(text), prefix_(prefix) {}

  bool have_prefix() const { return !prefix_.empty(); }
  // The begin of the next line with content, behind its prefix. `at` is the end of what was read
  // of a line. If more follows on that line, or the next one has no prefix, `at` itself.
  std::size_t skip(std::size_t at) const;

 private:
  std::size_t next_line(std::size_t at) const;
  std::optional<std::size_t> behind_prefix(std::size_t at) const;

  std::string_view text_;
  std::string_view prefix_;
};

}  // namespace sallyport::guards
