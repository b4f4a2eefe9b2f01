// Reads the bytes of a decoder as UTF-8. Ill-formed parts become U+FFFD (GR-21).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "guardrails/view/view_decoder.h"

namespace sallyport::guardrails {

class ViewBytes {
 public:
  // Takes a byte and the source bytes that it was made from.
  void add(unsigned char byte, std::uint64_t begin, std::uint64_t end, TextSink& sink);
  // Call it after the last byte: an unfinished character is ill-formed.
  void flush(TextSink& sink);
  void reset() { size_ = 0; }
  std::optional<std::uint64_t> pending_from() const;

 private:
  void emit(char32_t character, std::size_t bytes, TextSink& sink);

  static constexpr std::size_t kLongest = 4;
  std::size_t size_ = 0;
  std::array<char, kLongest> bytes_{};
  std::array<std::uint64_t, kLongest> begins_{};
  std::array<std::uint64_t, kLongest> ends_{};
};

}  // namespace sallyport::guardrails
