#include "guards/redact/redaction_mark.h"

#include <algorithm>

#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

constexpr std::string_view kRedacted = "[REDACTED:";
constexpr std::string_view kFingerprint = "[FP:";
// Longer than any label that is written, too short to carry much past a detector.
constexpr std::size_t kLongestLabel = 64;

bool is_mark_label(std::string_view text) {
  return !text.empty() && text.size() <= kLongestLabel &&
         std::ranges::all_of(text, [](char c) { return is(c, kWord | kDash | kColon); });
}

}  // namespace

std::string redaction_mark(Category category) {
  return std::string(kRedacted).append(to_string(category)).append("]");
}

bool is_redaction_mark(std::string_view text) {
  if (text == "****") return true;
  if (!text.ends_with(']')) return false;
  for (const std::string_view prefix : {kRedacted, kFingerprint}) {
    if (!text.starts_with(prefix)) continue;
    return is_mark_label(text.substr(prefix.size(), text.size() - prefix.size() - 1));
  }
  return false;
}

}  // namespace sallyport::guards
