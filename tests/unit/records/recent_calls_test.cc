#include "records/recent_calls.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "ledger/maintenance.h"
#include "support/governed_ledger.h"

namespace sallyport::app {
namespace {

class RecentCallsTest : public testing::Test, protected test::GovernedLedger {
 protected:
  std::optional<std::vector<CallRow>> newest(std::size_t count) { return newest(count, ledger); }
  std::optional<std::vector<CallRow>> newest(std::size_t count, test::TestLedger& of) {
    std::optional<std::vector<CallRow>> rows;
    const Result<void> read = of.store().read([&](ledger::ReadView& view) -> Result<void> {
      const auto found = recent.newest(view, count, [] { return true; });
      EXPECT_TRUE(found);
      rows = *found;
      return {};
    });
    EXPECT_TRUE(read);
    return rows;
  }

  std::string called() {
    const Result<Answer> answer = call(test::Governed::read_file());
    EXPECT_TRUE(answer);
    return answer->call_id;
  }

  RecentCalls recent;
};

TEST_F(RecentCallsTest, CallsAreTheNewestFirstAndThoseThatFollowJoinThem) {
  open();
  EXPECT_EQ(newest(5)->size(), 0u);
  const std::string first = called();
  const std::string second = called();
  EXPECT_EQ(newest(5)->at(0).call_id, second);
  EXPECT_EQ(newest(5)->at(1).call_id, first);
  const std::string third = called();
  ASSERT_EQ(newest(2)->size(), 2u);
  EXPECT_EQ(newest(2)->at(0).call_id, third);
  EXPECT_EQ(newest(2)->at(1).call_id, second);
  EXPECT_EQ(newest(5)->size(), 3u);
}

TEST_F(RecentCallsTest, ACallThatWaitsHasOneRowAndItsEndTakesItsPlace) {
  plan.autonomy(Autonomy::ActWithApproval);
  tool = std::make_shared<test::FakePreparer>();
  open();
  const Result<Answer> prepared = call(test::Governed::read_file(), {.holds = false});
  ASSERT_TRUE(prepared);
  ASSERT_EQ(newest(5)->size(), 1u);
  EXPECT_EQ(newest(5)->at(0).verdict, "asks");
  tool = upstream;
  ASSERT_TRUE(call(test::Governed::read_file(), {.holds = false}));
  close();
  open();  // the prepared operation is lost, which ends the first call
  const auto rows = newest(5);
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->at(0).call_id, prepared->call_id);
  EXPECT_EQ(rows->at(0).verdict, "refused");
  EXPECT_EQ(rows->at(1).verdict, "asks");
}

TEST_F(RecentCallsTest, WhatWasErasedIsInNoRow) {
  open();
  const std::string id = called();
  const std::string before = newest(1)->at(0).about;
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(ledger->transact(ledger::erase({.call_id = id}, "ops", "asked to")));
  EXPECT_EQ(newest(1)->at(0).about.find(before), std::string::npos);
}

// For example after a failover that lost entries.
TEST_F(RecentCallsTest, AnotherLogInThePlaceOfThisOneIsReadAnew) {
  open();
  called();
  EXPECT_EQ(newest(5)->size(), 1u);
  test::GovernedLedger other;
  other.open();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(other.call(test::Governed::read_file())->call_id);
  const auto rows = newest(5, other.ledger);
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ(rows->at(0).call_id, ids[2]);
  EXPECT_EQ(rows->at(2).call_id, ids[0]);
}

TEST_F(RecentCallsTest, AnEntryThatCannotBeReadIsLeftToTheSearchOfTheLog) {
  open();
  called();
  ledger.sql("UPDATE entries SET bytes = CAST(bytes || x'20' AS BLOB)");
  EXPECT_EQ(newest(1), std::nullopt);
}

}  // namespace
}  // namespace sallyport::app
