#include "guards/detect/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sallyport::guards {
namespace {

using testing::ElementsAre;

constexpr Detector kFirst = Detector::AwsAccessKeyId;
constexpr Detector kLater = Detector::Email;

// PI-52
TEST(CandidatesTest, MatchesThatOnlyTouchAreAllTaken) {
  const Hit left{2, 4, kLater};
  const Hit middle{4, 9, kLater};
  const Hit right{9, 11, kLater};
  EXPECT_THAT(settled({right, left, middle}), ElementsAre(left, middle, right));
  EXPECT_THAT(settled({right, {3, 5, kFirst}, left, middle}), ElementsAre(left, middle, right))
      << "also where some other one overlaps";
  EXPECT_THAT(settled({middle, {8, 10, kFirst}}), ElementsAre(middle));
}

// PI-52
TEST(CandidatesTest, OfEquallyLongOnesTheFirstDetectorAndThenTheFirstPlaceWins) {
  EXPECT_THAT(settled({{0, 4, kLater}, {2, 6, kFirst}}), ElementsAre(Hit{2, 6, kFirst}));
  EXPECT_THAT(settled({{2, 6, kLater}, {0, 4, kLater}}), ElementsAre(Hit{0, 4, kLater}));
  EXPECT_THAT(settled({{0, 4, kLater}, {0, 4, kFirst}}), ElementsAre(Hit{0, 4, kFirst}));
}

}  // namespace
}  // namespace sallyport::guards
