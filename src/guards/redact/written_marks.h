// Finds the marks of the output sanitizer in a text (PI-67).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "guards/redact/sanitizer_settings.h"

namespace sallyport::guards {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// `[FP:<16 hex>]`, `[REDACTED:<name>]`, `[TRUNCATED_UNSCANNED_OUTPUT]` and `****`, in order. A
// label counts only if redaction writes its name, so that `[REDACTED:AKIA...]` hides nothing.
std::vector<Span> marks_in(std::string_view text, const SanitizerSettings& settings);

}  // namespace sallyport::guards
