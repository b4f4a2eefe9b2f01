#include "guards/detect/number_checks.h"

#include <algorithm>
#include <cstddef>

#include "base/uuid.h"
#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

// A digit row is digits with single blanks or dashes between them.
bool joins_digits(std::string_view text, std::size_t at) {
  return at > 0 && (text[at] == ' ' || text[at] == '-') && is(text[at - 1], kDigit) &&
         is_at(text, at + 1, kDigit);
}

struct DigitRow {
  std::size_t begin = 0;
  std::size_t end = 0;
};

DigitRow row_around(std::string_view text, std::size_t at) {
  DigitRow row{at, at};
  const auto in_row = [text](std::size_t i) {
    return is(text[i], kDigit) || joins_digits(text, i);
  };
  while (row.begin > 0 && in_row(row.begin - 1)) --row.begin;
  while (row.end < text.size() && in_row(row.end)) ++row.end;
  return row;
}

// One UUID in ten thousand ends in digits that satisfy Luhn, but is not a card number.
bool is_in_uuid(std::string_view text, const DigitRow& row) {
  constexpr std::size_t kSize = 36;
  for (std::size_t begin = row.end - std::min(row.end, kSize); begin <= row.begin; ++begin) {
    if (parse_uuid(text.substr(begin, kSize))) return true;
  }
  return false;
}

// The digits before or after the point of 0.4111111111111111 are not a card number.
bool is_fraction(std::string_view text, std::size_t begin) {
  return begin >= 2 && text[begin - 1] == '.' && is(text[begin - 2], kDigit);
}
bool has_fraction(std::string_view text, std::size_t end) {
  return is_at(text, end, kDot) && is_at(text, end + 1, kDigit);
}

// Digits are appended left to right; Luhn counts from the right, so both parities are carried.
class Luhn {
 public:
  void append(char c) {
    const int digit = c - '0';
    const int doubled = digit < 5 ? 2 * digit : 2 * digit - 9;
    const int plain = if_last_doubled_ + digit;
    if_last_doubled_ = if_last_plain_ + doubled;
    if_last_plain_ = plain;
    ++digits_;
  }

  // A row of zeros satisfies the sum and is a filler, as in the nil UUID.
  bool holds() const { return if_last_plain_ % 10 == 0 && if_last_plain_ > 0; }
  int digits() const { return digits_; }

 private:
  int if_last_plain_ = 0;
  int if_last_doubled_ = 0;
  int digits_ = 0;
};

constexpr int kLeastCardDigits = 13;
constexpr int kMostCardDigits = 19;

// 13 and 19 digits that start with 1, ungrouped, are a time since 1970 in milli- or nanoseconds.
// No issuer has such numbers, and one in ten of them would satisfy Luhn.
bool is_epoch_time(std::string_view digits) {
  return digits.front() == '1' && (digits.size() == 13 || digits.size() == 19) &&
         std::ranges::all_of(digits, [](char c) { return is(c, kDigit); });
}

// The end of the longest card number that starts at `begin`, or `begin`.
std::size_t card_end(std::string_view text, std::size_t begin, std::size_t row_end) {
  Luhn luhn;
  std::size_t best = begin;
  for (std::size_t at = begin; at < row_end && luhn.digits() < kMostCardDigits; ++at) {
    if (!is(text[at], kDigit)) continue;
    luhn.append(text[at]);
    const std::size_t end = at + 1;
    if (luhn.digits() < kLeastCardDigits || !right_edge(text, end) || !luhn.holds()) continue;
    if (has_fraction(text, end) || is_epoch_time(text.substr(begin, end - begin))) continue;
    best = end;
  }
  return best;
}

int digit_at(std::string_view text, std::size_t at) {
  return text[at] - '0';
}

int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) number = number * 10 + digit_at(text, at + i);
  return number;
}

// Letters count as two digits, A = 10.
int append_mod97(int rest, char c) {
  return is(c, kDigit) ? (rest * 10 + (c - '0')) % 97 : (rest * 100 + (c - 'A' + 10)) % 97;
}

// Country and check digits move to the end before the division.
bool iban_holds(std::string_view head, int account_rest) {
  int rest = account_rest;
  for (const char c : head) rest = append_mod97(rest, c);
  return rest == 1;
}

}  // namespace

void check_us_ssn(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  if (!left_edge(text, at.begin) || !right_edge(text, at.end)) return;
  const int area = number_at(text, at.begin, 3);
  const int group = number_at(text, at.begin + 4, 2);
  const int serial = number_at(text, at.begin + 7, 4);
  if (area == 0 || area == 666 || area >= 900 || group == 0 || serial == 0) return;
  found.add(Detector::UsSsn, at.begin, at.end);
}

void check_credit_card(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  if (found.examined(Detector::CreditCard, at.end - 1)) return;
  const DigitRow row = row_around(text, at.end - 1);
  found.set_examined(Detector::CreditCard, row.begin, row.end);
  if (is_in_uuid(text, row)) return;
  for (std::size_t begin = row.begin; begin < row.end; ++begin) {
    if (!is(text[begin], kDigit) || !left_edge(text, begin) || is_fraction(text, begin)) continue;
    const std::size_t end = card_end(text, begin, row.end);
    if (end > begin) found.add(Detector::CreditCard, begin, end);
  }
}

void check_phone_e164(Candidates& found, Anchor at) {
  constexpr std::size_t kMostDigits = 15;
  const std::string_view text = found.text();
  if (!left_edge(text, at.begin)) return;
  std::size_t end = at.end;
  while (is_at(text, end, kDigit) && end - at.begin <= kMostDigits) ++end;
  if (right_edge(text, end)) found.add(Detector::PhoneE164, at.begin, end);
}

void check_iban(Candidates& found, Anchor at) {
  constexpr std::size_t kHead = 4;
  constexpr std::size_t kLeast = 15;
  constexpr std::size_t kMost = 34;
  const std::string_view text = found.text();
  if (!left_edge(text, at.begin)) return;
  const std::string_view head = text.substr(at.begin, kHead);
  const bool grouped = text[at.begin + kHead] == ' ';
  int rest = 0;
  std::size_t best = at.begin;
  std::size_t characters = kHead;
  for (std::size_t i = at.begin + kHead; i < text.size() && characters < kMost; ++i) {
    if (grouped && characters % 4 == 0 && text[i] == ' ' && text[i - 1] != ' ') continue;
    if (!is(text[i], kUpper | kDigit)) break;
    // Printed groups have four characters. Without a blank here, this is another word.
    if (grouped && characters % 4 == 0 && text[i - 1] != ' ') break;
    rest = append_mod97(rest, text[i]);
    ++characters;
    if (characters >= kLeast && right_edge(text, i + 1) && iban_holds(head, rest)) best = i + 1;
  }
  if (best > at.begin) found.add(Detector::Iban, at.begin, best);
}

}  // namespace sallyport::guards
