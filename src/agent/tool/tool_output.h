// Bounds the results of tools: valid UTF-8, with a last line that says what is missing (RT-28).
#pragma once

#include <string>
#include <string_view>

#include "sallyport/envelope.h"

namespace sallyport::agent {

inline constexpr std::size_t kMostBytes = 50 * 1024;
inline constexpr std::size_t kMostLines = 2'000;

// Collects lines until the limit is reached.
class BoundedLines {
 public:
  // False: the line did not fit and is counted as left out. A line over the limit is cut.
  bool add(std::string_view line);
  bool full() const { return full_; }
  std::size_t taken() const { return lines_; }
  std::size_t left_out() const { return left_out_; }
  // Returns the lines, then `note` unless it is empty.
  std::string text(std::string_view note) &&;

 private:
  std::string text_;
  std::size_t lines_ = 0;
  std::size_t left_out_ = 0;
  bool full_ = false;
};

// The beginning of a text and a note about the part that was cut. `hint` says how to see the rest.
std::string cut_with_hint(std::string_view text, std::string_view hint,
                          std::size_t most_bytes = kMostBytes, std::size_t most_lines = kMostLines);

// The output of a program as text. Bytes that are not UTF-8 become U+FFFD.
std::string text_from(std::string_view bytes);

// A result with text for the model and data for programs. `result_with_data` reads it.
Envelope text_and_data(bool success, std::string text, json::object data);
ToolResult result_with_data(const Envelope& released);

}  // namespace sallyport::agent
