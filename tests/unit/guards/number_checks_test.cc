#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/guards/found.h"

namespace sallyport::guards {
namespace {

using testing::IsEmpty;

// PI-54
TEST(NumberChecksTest, ACardStandsBehindAPointThatNoDigitPrecedes) {
  const std::string card = "4111111111111111";
  for (const std::string before : {".", "x.", "card."}) {
    EXPECT_THAT(found(before + card), only("credit_card", card)) << before;
  }
  EXPECT_THAT(found(card + ".x"), only("credit_card", card));
  EXPECT_THAT(found("0." + card), IsEmpty());
  EXPECT_THAT(found("1234 5678 1234 5670"), only("credit_card", "1234 5678 1234 5670"))
      << "in groups it is no time";
  EXPECT_THAT(found("0000000000000000"), IsEmpty());
}

// PI-54
TEST(NumberChecksTest, AnIbanHasUpTo34Characters) {
  EXPECT_THAT(found("XX621234567890ABCDEFGHIJ1234567890"),
              only("iban", "XX621234567890ABCDEFGHIJ1234567890"));
  EXPECT_THAT(found("XX851234567890ABCDEFGHIJ1234567890X"), IsEmpty());
}

// PI-54
TEST(AddressChecksTest, ADomainHasLabelsAndATopLevelOfLetters) {
  for (const std::string text :
       {"jane@example.c1", "jane@b-.com", "..@b.io", "jane@b.-com", "jane@b.co_m"}) {
    EXPECT_THAT(found(text), IsEmpty()) << text;
  }
  EXPECT_THAT(found("jane@example.com-"), only("email", "jane@example.com"));
  EXPECT_THAT(found("jane@example.com.c1"), only("email", "jane@example.com"));
}

// PI-54
TEST(AddressChecksTest, AnAddressIsNoPartOfAnother) {
  for (const std::string before : {".", "a.", "1 ", "1-"}) {
    EXPECT_THAT(found(before + "10.0.0.1"), only("private_ip", "10.0.0.1")) << before;
  }
  EXPECT_THAT(found("10.0.0.1.a"), only("private_ip", "10.0.0.1"));
  EXPECT_THAT(found("10.0..1"), IsEmpty());
  EXPECT_THAT(found("fe80::1.."), only("private_ip", "fe80::1"));
  EXPECT_THAT(found("fe80::1..."), IsEmpty());
  EXPECT_THAT(found("fd00:0:0:0:0:0:255.255.255.255"),
              only("private_ip", "fd00:0:0:0:0:0:255.255.255.255"));
}

}  // namespace
}  // namespace sallyport::guards
