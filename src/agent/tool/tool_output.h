// Results of tools: bounded, valid UTF-8, and with a last line that says what is missing (RT-28).
#pragma once

#include <string>
#include <string_view>

#include "sallyport/envelope.h"

namespace sallyport::agent {

inline constexpr std::size_t kMostBytes = 50 * 1024;
inline constexpr std::size_t kMostLines = 2'000;

// Takes lines until no more fit.
class BoundedLines {
 public:
  // False: it did not fit, and is counted as left out. A line that alone is too long is cut.
  bool add(std::string_view line);
  bool full() const { return full_; }
  std::size_t taken() const { return lines_; }
  std::size_t left_out() const { return left_out_; }
  // The lines, and `note` as the last one where it is not empty.
  std::string text(std::string_view note) &&;

 private:
  std::string text_;
  std::size_t lines_ = 0;
  std::size_t left_out_ = 0;
  bool full_ = false;
};

// The beginning of a text that fits, with a note of what was cut; `how` says how to see the rest.
std::string bounded(std::string_view text, std::string_view how,
                    std::size_t most_bytes = kMostBytes, std::size_t most_lines = kMostLines);

// What a program wrote, as text: bytes that are not UTF-8 become U+FFFD.
std::string text_from(std::string_view bytes);

// A result with text for the model and data for programs: `result_with_data` reads it back.
Envelope text_and_data(bool success, std::string text, json::object data);
ToolResult result_with_data(const Envelope& released);

}  // namespace sallyport::agent
