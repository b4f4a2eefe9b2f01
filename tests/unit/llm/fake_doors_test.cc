#include "fake_doors.h"

#include <gtest/gtest.h>

namespace sallyport::llm::test {
namespace {

TEST(FakeDoors, HoldExactlyTheEndThatMayBeginAWord) {
  FakeDoors doors;
  const auto door = doors.open(0);
  EXPECT_EQ(door->push({}, "a SEC").text(), "a ");
  EXPECT_EQ(door->push({}, "RET b FORB").text(), "[redacted] b ");
  EXPECT_EQ(door->push({}, "ID F").text(), "FORBID ");
  EXPECT_EQ(door->finish({}).text(), "F");
  const auto passed = door->whole({.kind = ChannelKind::Whole}, "x FORBIDDEN y");
  EXPECT_EQ(passed.text(), "x ");
  EXPECT_EQ(passed.block->notice, "[withheld]");
  EXPECT_EQ(door->push({.item = 1}, "more").text(), "");
}

}  // namespace
}  // namespace sallyport::llm::test
