#include "guardrails/view/view_nfkc.h"

#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <array>
#include <stdexcept>

namespace sallyport::guardrails {

namespace {

const icu::Normalizer2& nfkc() {
  static const icu::Normalizer2* const instance = [] {
    UErrorCode error = U_ZERO_ERROR;
    const icu::Normalizer2* const found = icu::Normalizer2::getNFKCInstance(error);
    if (U_FAILURE(error) != 0) throw std::runtime_error("no NFKC data");
    return found;
  }();
  return *instance;
}

bool boundary_before(char32_t c) {
  return c < 0x80 || nfkc().hasBoundaryBefore(static_cast<UChar32>(c)) != 0;
}

bool boundary_after(char32_t c) {
  static const std::array<bool, 128> ascii = [] {
    std::array<bool, 128> table{};
    for (UChar32 i = 0; i < 128; ++i) {
      table[static_cast<std::size_t>(i)] = nfkc().hasBoundaryAfter(i) != 0;
    }
    return table;
  }();
  return c < 0x80 ? ascii[c] : nfkc().hasBoundaryAfter(static_cast<UChar32>(c)) != 0;
}

}  // namespace

void Composer::take(const match::Unit& unit, std::vector<match::Unit>& out) {
  if (boundary_before(unit.character) || segment_.size() == kLongestSegment) flush(out);
  segment_.push_back(unit);
  if (boundary_after(unit.character)) flush(out);
}

void Composer::flush(std::vector<match::Unit>& out) {
  if (segment_.empty()) return;
  const match::Unit whole{segment_.front().character, segment_.front().begin, segment_.back().end};
  if (segment_.size() == 1 && whole.character < 0x80) {
    out.push_back(whole);
    segment_.clear();
    return;
  }
  icu::UnicodeString text;
  for (const match::Unit& unit : segment_) text.append(static_cast<UChar32>(unit.character));
  segment_.clear();
  UErrorCode error = U_ZERO_ERROR;
  const icu::UnicodeString normal = nfkc().normalize(text, error);
  if (U_FAILURE(error) != 0) throw std::runtime_error("a text cannot be normalised");
  for (std::int32_t i = 0; i < normal.length(); i = normal.moveIndex32(i, 1)) {
    out.push_back({static_cast<char32_t>(normal.char32At(i)), whole.begin, whole.end});
  }
}

std::optional<std::uint64_t> Composer::pending_from() const {
  if (segment_.empty()) return std::nullopt;
  return segment_.front().begin;
}

}  // namespace sallyport::guardrails
