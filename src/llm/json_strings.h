// Tracks which bytes of a JSON text are inside a string, while the text arrives in pieces. A
// redaction inside a string keeps the JSON valid; any other breaks it (MP-52).
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "core/plan/stream_guard.h"

namespace sallyport::llm {

class JsonStrings {
 public:
  void feed(std::string_view text);
  // Escapes replacements for use inside a JSON string. The first one that is not inside one string
  // acts as a block: it and everything after it are removed. The pieces belong to fed text.
  void fit(core::PassedText& passed);

 private:
  struct Mark {
    std::uint64_t start;
    std::uint64_t end;
    bool quote;  // else an escape sequence
  };
  bool is_inside(std::uint64_t start, std::uint64_t end) const;
  void forget(std::uint64_t until);

  std::uint64_t at_ = 0;
  bool in_string_ = false;
  unsigned escape_left_ = 0;  // missing bytes of the current escape sequence
  bool escape_begins_ = false;
  std::deque<Mark> marks_;         // marks that are still needed
  bool begins_in_string_ = false;  // state before the first mark
};

}  // namespace sallyport::llm
