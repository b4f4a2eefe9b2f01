#include "guards/redact/redaction_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/encoding.h"
#include "base/keyed_digest.h"
#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

constexpr std::array<std::pair<Strategy, std::string_view>, 6> kNames{{
    {Strategy::Mask, "mask"},
    {Strategy::Fingerprint, "fingerprint"},
    {Strategy::Drop, "drop"},
    {Strategy::Partial, "partial"},
    {Strategy::TypeLabel, "type_label"},
    {Strategy::Keep, "keep"},
}};

std::string last_four_digits(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return is(c, kDigit); });
  return digits.substr(digits.size() - std::min<std::size_t>(digits.size(), 4));
}

}  // namespace

std::string_view to_string(Strategy strategy) {
  return kNames[static_cast<std::size_t>(strategy)].second;
}

std::optional<Strategy> strategy_named(std::string_view name) {
  for (const auto& [strategy, known] : kNames) {
    if (known == name) return strategy;
  }
  return std::nullopt;
}

Strategy default_strategy(Category category) {
  switch (category) {
    case Category::Secret:
      return Strategy::Mask;
    case Category::Pii:
      return Strategy::Partial;
    case Category::Internal:
      return Strategy::TypeLabel;
  }
  return Strategy::Mask;
}

std::string fingerprint_mark(std::string_view key, std::string_view matched) {
  constexpr std::size_t kDigits = 16;
  return fmt::format("[FP:{}]", hex(hmac_sha256(key, matched)).substr(0, kDigits));
}

std::string label_mark(std::string_view detector) {
  return fmt::format("[REDACTED:{}]", detector);
}

std::string partial_mark(Detector detector, std::string_view matched) {
  switch (detector) {
    case Detector::CreditCard:
      return fmt::format("{}{}", kMask, last_four_digits(matched));
    case Detector::UsSsn:
      return fmt::format("***-**-{}", last_four_digits(matched));
    case Detector::Email:
      return fmt::format("{}***{}", matched.substr(0, 1), matched.substr(matched.find('@')));
    case Detector::Iban:
      return fmt::format("{}{}", matched.substr(0, 4), kMask);
    default:
      return std::string(kMask);
  }
}

}  // namespace sallyport::guards
