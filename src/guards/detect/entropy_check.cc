#include "guards/detect/entropy_check.h"

#include <array>
#include <cmath>

#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

constexpr CharMask kToken = kAlnum | kPlus | kSlash | kUnderscore | kEquals | kDash;
constexpr std::size_t kLeast = 24;
constexpr std::size_t kMost = 256;
constexpr double kLeastBits = 4.5;

double bits_per_character(std::string_view text) {
  std::array<unsigned, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  const auto size = static_cast<double>(text.size());
  double bits = 0;
  for (const unsigned count : counts) {
    if (count > 0) bits -= count / size * std::log2(count / size);
  }
  return bits;
}

}  // namespace

void check_high_entropy(Candidates& found) {
  const std::string_view text = found.text();
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    const std::size_t end = run_end(text, begin, kToken);
    const std::string_view run = text.substr(begin, end - begin);
    if (run.size() >= kLeast && run.size() <= kMost && holds(run, kLetter) && holds(run, kDigit) &&
        bits_per_character(run) >= kLeastBits) {
      found.add(Detector::HighEntropy, begin, end);
    }
    begin = end;
  }
}

}  // namespace sallyport::guards
