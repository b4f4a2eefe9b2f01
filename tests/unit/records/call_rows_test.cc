#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "ledger/maintenance.h"
#include "records/record_rows.h"
#include "support/governed_ledger.h"

namespace sallyport::app {
namespace {

class CallRowsTest : public testing::Test, protected test::GovernedLedger {
 protected:
  CallRow row_at(std::uint64_t sequence) {
    CallRow row;
    const Result<void> read = ledger.store().read([&](ledger::ReadView& view) -> Result<void> {
      const auto stored = view.entry(sequence);
      EXPECT_TRUE(stored && *stored);
      const auto made = rows.newest(view, **stored);
      EXPECT_TRUE(made && *made);
      row = **made;
      return {};
    });
    EXPECT_TRUE(read);
    return row;
  }

  CallRows rows;
};

TEST_F(CallRowsTest, ARowThatIsKeptIsTheRowThatWasMade) {
  open();
  const Result<Answer> answer = call(test::Governed::read_file());
  ASSERT_TRUE(answer);
  const CallRow made = row_at(answer->sequence);
  const CallRow kept = row_at(answer->sequence);
  EXPECT_EQ(kept.call_id, answer->call_id);
  EXPECT_FALSE(made.about.empty());
  EXPECT_EQ(kept.about, made.about);
  EXPECT_EQ(kept.verdict, made.verdict);
}

TEST_F(CallRowsTest, WhatWasErasedIsInNoRowThatIsKept) {
  open();
  const Result<Answer> answer = call(test::Governed::read_file());
  ASSERT_TRUE(answer);
  const std::string before = row_at(answer->sequence).about;
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(ledger->transact(ledger::erase({.call_id = answer->call_id}, "ops", "asked to")));
  EXPECT_EQ(row_at(answer->sequence).about.find(before), std::string::npos);
}

}  // namespace
}  // namespace sallyport::app
