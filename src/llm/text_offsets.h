// Where the characters of a text stand after redactions (MP-47).
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
  // Pieces that left, of text that was fed.
  void take(const core::PassedText& passed);

  // True if every character before this one is decided.
  bool is_decided(std::uint64_t character) const { return character <= in_; }
  bool has_changes() const { return !regions_.empty(); }
  // From the source to what left. No value: all of it is inside a region that was replaced.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> mapped(std::uint64_t start,
                                                                std::uint64_t end) const;

 private:
  struct Region {
    std::uint64_t start, end;          // characters of the source
    std::uint64_t out_start, out_end;  // of what left
  };
  std::string waiting_;  // fed and not decided
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
  std::vector<Region> regions_;
};

}  // namespace sallyport::llm
