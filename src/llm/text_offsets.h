// Maps the places of characters in a text to their places after redactions (MP-47).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plan/stream_guard.h"

namespace sallyport::llm {

class TextOffsets {
 public:
  void feed(std::string_view source) { waiting_ += source; }
  // Takes the released pieces of fed text.
  void take(const core::PassedText& passed);

  // True if every character before this one is decided.
  bool is_decided(std::uint64_t character) const { return character <= in_; }
  bool has_changes() const { return !regions_.empty(); }
  // Maps a range from the source to the released text. No value: it is inside a replaced region.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> mapped(std::uint64_t start,
                                                                std::uint64_t end) const;

 private:
  struct Region {
    std::uint64_t start, end;          // characters of the source
    std::uint64_t out_start, out_end;  // characters of the released text
  };
  std::string waiting_;  // fed, not yet decided
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
  std::vector<Region> regions_;
};

}  // namespace sallyport::llm
