#include "net/quota.h"

#include <gtest/gtest.h>

#include <optional>

namespace sallyport::net {
namespace {

TEST(QuotaTest, EachHasHisLimitAndAllTogetherHaveOne) {
  const Quota quota({.all = 10, .each = 6});
  Quota::Share one = quota.share_of("one");
  EXPECT_TRUE(one.grow_to(4));
  EXPECT_FALSE(one.grow_to(7));
  EXPECT_TRUE(one.grow_to(6));
  Quota::Share more = quota.share_of("one");
  EXPECT_FALSE(more.grow_to(1));
  Quota::Share two = quota.share_of("two");
  EXPECT_FALSE(two.grow_to(5));
  EXPECT_TRUE(two.grow_to(4));
}

TEST(QuotaTest, WhatGoesGivesItsRoomBackOnce) {
  std::optional<Quota> quota(Quota::Limits{.all = 4, .each = 4});
  Quota::Share kept = quota->share_of("a");
  {
    Quota::Share moved = quota->share_of("a");
    EXPECT_TRUE(moved.grow_to(4));
    kept = std::move(moved);
  }
  EXPECT_FALSE(quota->share_of("b").grow_to(1));
  const Quota same = *quota;
  quota.reset();
  kept = {};
  EXPECT_TRUE(same.share_of("b").grow_to(4));
  EXPECT_TRUE(same.share_of("b").grow_to(4));
}

}  // namespace
}  // namespace sallyport::net
