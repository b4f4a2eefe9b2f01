#include "guards/detect/short_text.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sallyport::guards {

namespace {

// Ten counters of six bits in one word: a text of up to 63 bytes cannot overflow any of them.
constexpr std::size_t kLongest = 63;
constexpr unsigned kBits = 6;

enum Lane : unsigned { Digit, Upper, Colon, Dot, Dash, At, Equals, Plus, Underscore, Blank };

constexpr std::array<std::uint64_t, 256> make_lanes() {
  std::array<std::uint64_t, 256> lanes{};
  const auto count = [&lanes](std::string_view bytes, Lane lane) {
    for (const char c : bytes) lanes[static_cast<unsigned char>(c)] = 1ULL << (lane * kBits);
  };
  count("0123456789", Digit);
  count("ABCDEFGHIJKLMNOPQRSTUVWXYZ", Upper);
  count(":", Colon);
  count(".", Dot);
  count("-", Dash);
  count("@", At);
  count("=", Equals);
  count("+", Plus);
  count("_", Underscore);
  count(" ", Blank);
  return lanes;
}

constexpr std::array<std::uint64_t, 256> kLanes = make_lanes();

class Census {
 public:
  explicit Census(std::string_view text) : size_(text.size()) {
    for (const char c : text) counts_ += kLanes[static_cast<unsigned char>(c)];
  }

  std::size_t size() const { return size_; }
  unsigned of(Lane lane) const { return (counts_ >> (lane * kBits)) & ((1U << kBits) - 1); }
  bool has(Lane lane) const { return of(lane) > 0; }

 private:
  std::uint64_t counts_ = 0;
  std::size_t size_;
};

// Each line is a necessary condition of the detectors it names; PI-54 has the sufficient ones.
bool may_be_secret(const Census& text) {
  const std::size_t size = text.size();
  const bool assigned = text.has(Colon) || text.has(Equals);
  if (assigned && text.has(Digit) && size >= 12) return true;         // password_assignment
  if (assigned && text.has(Blank) && size >= 20) return true;         // passphrase_assignment
  if (assigned && size >= 50) return true;                            // aws_secret_access_key
  if (text.has(Dash) && size >= 15) return true;                      // slack, gitlab, model
  if (text.has(Underscore) && size >= 24) return true;                // stripe, github
  if (text.has(Blank) && text.has(Digit) && size >= 23) return true;  // bearer_header
  if (text.of(Dot) >= 2 && (text.of(Upper) >= 2 || text.has(Colon))) return true;  // jwt, webhook
  if (text.of(Upper) >= 4 && size >= 20) return true;  // aws_access_key_id, private_key_pem
  return text.of(Upper) >= 2 && size >= 39;            // google_api_key
}

bool may_be_personal(const Census& text) {
  if (text.of(Digit) >= 13) return true;                                   // credit_card
  if (text.of(Digit) >= 9 && text.of(Dash) >= 2) return true;              // us_ssn
  if (text.has(At) && text.has(Dot)) return true;                          // email
  if (text.has(Plus) && text.of(Digit) >= 8) return true;                  // phone_e164
  return text.of(Upper) >= 2 && text.of(Digit) >= 2 && text.size() >= 15;  // iban
}

bool may_be_address(const Census& text) {
  if (text.of(Colon) >= 2) return true;             // private_ip, url_password
  return text.of(Dot) >= 3 && text.of(Digit) >= 4;  // private_ip
}

}  // namespace

bool may_match(std::string_view text, const DetectorSet& wanted) {
  if (text.size() > kLongest) return true;
  const Census census(text);
  if (may_be_secret(census) || may_be_personal(census) || may_be_address(census)) return true;
  return wanted.test(index_of(Detector::HighEntropy)) && census.has(Digit) && census.size() >= 24;
}

}  // namespace sallyport::guards
