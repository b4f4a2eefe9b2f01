// The output of a command: standard output, or a file that is either whole or absent.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::app {

class Output {
 public:
  // No value or `-`: standard output. A regular file gets mode 0600, because it may hold content,
  // and its name only on `finish`.
  static Result<std::unique_ptr<Output>> open(const std::optional<std::filesystem::path>& file);
  virtual ~Output() = default;

  virtual Result<void> write(std::string_view bytes) = 0;
  virtual Result<void> finish() = 0;
};

Result<void> write_output(const std::optional<std::filesystem::path>& file, std::string_view bytes);

// Writes to standard output. The stream remembers a failure, and `finish_output` returns it.
void print_line(std::string_view line);  // adds the LF
Result<void> finish_output();

}  // namespace sallyport::app
