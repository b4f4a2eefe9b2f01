#include "guards/detect/address_checks.h"

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <string>

#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

bool is_top_level(std::string_view label) {
  return label.size() >= 2 &&
         (run_end(label, 0, kLetter) == label.size() || label.starts_with("xn--"));
}

// The end of the longest dotted domain that starts at `begin`, or `begin`.
std::size_t domain_end(std::string_view text, std::size_t begin) {
  std::size_t best = begin;
  bool dotted = false;
  for (std::size_t at = begin;;) {
    const std::size_t end = run_end(text, at, kAlnum | kDash);
    // A label does not end with a dash, but a dash is a word edge.
    std::size_t trimmed = end;
    while (text[trimmed - 1] == '-') --trimmed;  // `@` or a dot stands before the label
    const std::string_view label = text.substr(at, trimmed - at);
    if (label.empty() || label.front() == '-') return best;
    if (dotted && is_top_level(label) && right_edge(text, trimmed)) best = trimmed;
    if (trimmed != end || !is_at(text, end, kDot)) return best;
    dotted = true;
    at = end + 1;
  }
}

// Reads one number of 0..255 and moves `at` behind it.
bool read_octet(std::string_view text, std::size_t& at) {
  int octet = 0;
  const std::size_t begin = at;
  while (is_at(text, at, kDigit) && at - begin < 3) octet = octet * 10 + (text[at++] - '0');
  return at > begin && octet <= 255;
}

bool is_private(const std::array<std::uint8_t, 16>& address) {
  constexpr std::array<std::uint8_t, 16> kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (address == kLoopback) return true;
  const bool unique_local = (address[0] & 0xFE) == 0xFC;
  const bool link_local = address[0] == 0xFE && (address[1] & 0xC0) == 0x80;
  return unique_local || link_local;
}

bool is_private_ipv6(std::string_view text) {
  std::array<std::uint8_t, 16> address{};
  return inet_pton(AF_INET6, std::string(text).c_str(), address.data()) == 1 && is_private(address);
}

}  // namespace

void check_email(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  const std::size_t sign = at.begin + 1;
  // Neither side can hold `@`, so no byte is read for more than two of them.
  std::size_t begin = run_begin(text, sign, kWord | kDot | kPercent | kPlus | kDash);
  begin = run_end(text, begin, kDot);
  if (begin >= sign) return;
  const std::size_t end = domain_end(text, sign + 1);
  if (end > sign + 1) found.add(Detector::Email, begin, end);
}

void check_private_ipv4(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  if (!left_edge(text, at.begin)) return;
  // 1.10.0.0.1 is a version or an object identifier.
  if (at.begin >= 2 && text[at.begin - 1] == '.' && is(text[at.begin - 2], kDigit)) return;
  std::size_t end = at.begin;
  for (int octet = 0; octet < 4; ++octet) {
    if (octet > 0 && !is_at(text, end++, kDot)) return;
    if (!read_octet(text, end)) return;
  }
  if (!right_edge(text, end)) return;
  if (is_at(text, end, kDot) && is_at(text, end + 1, kDigit)) return;
  found.add(Detector::PrivateIp, at.begin, end);
}

void check_private_ipv6(Candidates& found, Anchor at) {
  constexpr std::size_t kLongest = 45;
  const std::string_view text = found.text();
  if (!left_edge(text, at.begin) || (at.begin > 0 && text[at.begin - 1] == ':')) return;
  std::size_t end = at.begin;
  while (is_at(text, end, kDigit | kHexLetter | kColon | kDot) && end - at.begin <= kLongest) ++end;
  if (!right_edge(text, end)) return;
  // A sentence may end behind the address, but `fd00::` ends in colons of its own.
  for (int trimmed = 0; trimmed <= 2 && end > at.begin; ++trimmed, --end) {
    if (is_private_ipv6(text.substr(at.begin, end - at.begin))) {
      found.add(Detector::PrivateIp, at.begin, end);
      return;
    }
    if (!is(text[end - 1], kDot | kColon)) return;
  }
}

}  // namespace sallyport::guards
