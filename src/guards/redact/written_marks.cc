#include "guards/redact/written_marks.h"

#include <algorithm>

#include "base/encoding.h"
#include "guards/redact/gathered_text.h"

namespace sallyport::guards {

namespace {

constexpr std::string_view kRedactedMark = "[REDACTED:";
constexpr std::string_view kFingerprintMark = "[FP:";
constexpr std::string_view kCustomMark = "custom:";

bool is_written_name(std::string_view name, const SanitizerSettings& settings) {
  if (detector_named(name) || category_named(name)) return true;
  if (!name.starts_with(kCustomMark)) return false;
  return std::ranges::find(settings.deny, name.substr(kCustomMark.size()), &DenyEntry::name) !=
         settings.deny.end();
}

// The size of the mark that `text` begins with, or 0.
std::size_t mark_size(std::string_view text, const SanitizerSettings& settings) {
  if (text.starts_with(kMask)) return kMask.size();
  if (text.starts_with(kTruncated)) return kTruncated.size();
  if (text.starts_with(kFingerprintMark)) {
    constexpr std::size_t kDigits = 16;
    const std::string_view digits = text.substr(kFingerprintMark.size(), kDigits);
    const std::size_t end = kFingerprintMark.size() + digits.size();
    const bool hexadecimal = std::ranges::all_of(digits, [](char c) { return hex_digit(c) >= 0; });
    return hexadecimal && digits.size() == kDigits && text.substr(end).starts_with(']') ? end + 1
                                                                                        : 0;
  }
  if (!text.starts_with(kRedactedMark)) return 0;
  constexpr std::size_t kLongest = 64;
  const std::size_t end = text.substr(0, kRedactedMark.size() + kLongest).find(']');
  if (end == std::string_view::npos) return 0;
  const std::string_view name = text.substr(kRedactedMark.size(), end - kRedactedMark.size());
  return is_written_name(name, settings) ? end + 1 : 0;
}

// Finds the possible starts of marks. Each of the two characters is searched separately, which is
// many times faster than searching for either.
class Beginnings {
 public:
  explicit Beginnings(std::string_view text)
      : text_(text), bracket_(text.find('[')), star_(text.find('*')) {}

  std::size_t next(std::size_t from) {
    if (bracket_ < from) bracket_ = text_.find('[', from);
    if (star_ < from) star_ = text_.find('*', from);
    return std::min(bracket_, star_);
  }

 private:
  std::string_view text_;
  std::size_t bracket_;
  std::size_t star_;
};

}  // namespace

std::vector<Span> marks_in(std::string_view text, const SanitizerSettings& settings) {
  std::vector<Span> marks;
  Beginnings beginnings(text);
  for (std::size_t at = beginnings.next(0); at < text.size(); at = beginnings.next(at)) {
    const std::size_t size = mark_size(text.substr(at), settings);
    if (size > 0) marks.push_back({at, at + size});
    at += std::max<std::size_t>(size, 1);
  }
  return marks;
}

}  // namespace sallyport::guards
