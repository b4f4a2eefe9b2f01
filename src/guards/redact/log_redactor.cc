#include "guards/redact/log_redactor.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "guards/detect/private_key_check.h"
#include "guards/redact/redaction_mark.h"
#include "guards/redact/text_redaction.h"

namespace sallyport::guards {

namespace {

// `[NAME] ` at the beginning of a line, or empty.
std::string_view source_of(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  if (!text.starts_with('[')) return {};
  const std::size_t end = text.substr(0, kLongest).find("] ");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 2);
}

}  // namespace

std::string LogRedactor::line(std::string_view text) {
  const std::string_view source = source_of(text);
  const std::string_view rest = text.substr(source.size());
  const bool key = open_.with([&](OpenKeys& open) { return belongs_to_key(open, source, rest); });
  if (key) return std::string(source) + redaction_mark(Category::Secret);
  return redacted(text, !source.empty());
}

bool LogRedactor::belongs_to_key(OpenKeys& open, std::string_view source, std::string_view text) {
  constexpr std::size_t kLongestKey = 1000;  // lines
  constexpr std::size_t kMostOthers = 16;
  constexpr std::size_t kMostSources = 256;
  if (const auto indent = opened_key(text)) {
    if (!open.contains(source) && open.size() == kMostSources) open.clear();
    open.insert_or_assign(std::string(source), OpenKey{.indent = *indent});
    return false;
  }
  const auto found = open.find(source);
  if (found == open.end()) return false;
  OpenKey& key = found->second;
  const KeyLine kind = key_line(text.substr(std::min(key.indent, text.size())));
  const bool belongs = kind != KeyLine::Other;
  key.others = belongs ? 0 : key.others + 1;
  const bool ends =
      kind == KeyLine::Closes || ++key.lines > kLongestKey || key.others > kMostOthers;
  if (ends) open.erase(found);
  return belongs;
}

std::string LogRedactor::redacted(std::string_view text, bool from_server) const {
  try {
    if (from_server) {
      json::value value(text);
      redactor_.redact("line", value);
      return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
    }
    RedactedText clean = redact_text(*detectors_, text, detectors_of(Category::Secret));
    return clean.removed.empty() ? std::string(text) : std::move(clean.text);
  } catch (const std::exception&) {
    return "[REDACTED:unreadable]";
  }
}

}  // namespace sallyport::guards
