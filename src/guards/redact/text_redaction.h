// Replaces the findings of detectors in one text by `[REDACTED:<category>]`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "guards/detect/detectors.h"

namespace sallyport::guards {

struct RemovedText {
  Detector detector = Detector::AwsAccessKeyId;
  std::string bytes;
  std::size_t at = 0;  // its first byte in the original text

  Category category() const { return category_of(detector); }
};

struct RedactedText {
  std::string text;
  std::vector<RemovedText> removed;  // empty if nothing was found; then `text` is empty too
};

RedactedText redact_text(const Detectors& detectors, std::string_view text,
                         const DetectorSet& only = default_detectors());

}  // namespace sallyport::guards
