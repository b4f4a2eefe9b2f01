// Which bytes of a JSON text that arrives in pieces stand inside one of its strings. A redaction
// there keeps the JSON whole; one that reaches outside does not (MP-52).
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "core/plan/stream_guard.h"

namespace sallyport::llm {

class JsonStrings {
 public:
  void feed(std::string_view text);
  // Writes replacements as the inside of a JSON string. The first one that is not within one string
  // acts as block: it and what follows it are taken out. The pieces belong to text that was fed.
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
  unsigned escape_left_ = 0;  // bytes of the escape sequence at hand that are still to come
  bool escape_begins_ = false;
  std::deque<Mark> marks_;         // not yet forgotten
  bool begins_in_string_ = false;  // before the first of them
};

}  // namespace sallyport::llm
