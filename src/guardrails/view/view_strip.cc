#include "guardrails/view/view_strip.h"

#include <unicode/uchar.h>

namespace sallyport::guardrails {

namespace {

constexpr char32_t kJoiner = 0x200D;
constexpr char32_t kBlackFlag = 0x1F3F4;
constexpr char32_t kCancelTag = 0xE007F;
// `gbeng`: two letters for the country, up to three for the part of it. More would be a message.
constexpr std::size_t kFewestTags = 3;
constexpr std::size_t kMostTags = 6;

bool is_ignorable(char32_t c) {
  if (c < 0xAD) return false;
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0;
}

// Digits and the like are emoji to Unicode, but a text of digits is no picture.
bool is_emoji(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  return c >= 0x80 && (u_hasBinaryProperty(point, UCHAR_EMOJI) != 0 ||
                       u_hasBinaryProperty(point, UCHAR_EXTENDED_PICTOGRAPHIC) != 0);
}

bool is_selector(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_VARIATION_SELECTOR) != 0;
}

// Tags that name a region: letters and digits.
bool is_region_tag(char32_t c) {
  return (c >= 0xE0030 && c <= 0xE0039) || (c >= 0xE0061 && c <= 0xE007A);
}

}  // namespace

bool Stripper::after_emoji() const {
  return last_ != Last::Other && is_emoji(base_);
}

void Stripper::take(const match::Unit& unit, std::vector<match::Unit>& out) {
  const char32_t c = unit.character;
  if (take_tag(unit, out)) return;
  if (is_ignorable(c)) return take_ignorable(unit, out);
  if (!waiting_.empty()) {
    if (waiting_.front().character == kJoiner && is_emoji(c)) out.push_back(waiting_.front());
    waiting_.clear();
  }
  out.push_back(unit);
  last_ = Last::Character;
  base_ = c;
}

bool Stripper::take_tag(const match::Unit& unit, std::vector<match::Unit>& out) {
  const bool tags_wait = !waiting_.empty() && waiting_.front().character != kJoiner;
  const bool may_begin = waiting_.empty() && last_ == Last::Character && base_ == kBlackFlag;
  if (is_region_tag(unit.character) && (tags_wait || may_begin) && waiting_.size() < kMostTags) {
    waiting_.push_back(unit);
    return true;
  }
  if (unit.character != kCancelTag || !tags_wait || waiting_.size() < kFewestTags) return false;
  out.insert(out.end(), waiting_.begin(), waiting_.end());
  out.push_back(unit);
  waiting_.clear();
  last_ = Last::Character;  // the flag as a whole may be joined on
  return true;
}

void Stripper::take_ignorable(const match::Unit& unit, std::vector<match::Unit>& out) {
  const bool waits = !waiting_.empty();
  waiting_.clear();
  if (!waits && unit.character == kJoiner && after_emoji()) {
    waiting_.push_back(unit);
    return;
  }
  if (!waits && is_selector(unit.character) && last_ == Last::Character && is_emoji(base_)) {
    out.push_back(unit);
    last_ = Last::Selector;
    return;
  }
  last_ = Last::Other;
}

void Stripper::reset() {
  last_ = Last::Other;
  base_ = 0;
  waiting_.clear();
}

std::optional<std::uint64_t> Stripper::pending_from() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().begin;
}

}  // namespace sallyport::guardrails
