// Every write, sync and truncate may fail: nothing is partially written, and work continues.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>

#include "support/ledger_checks.h"
#include "support/unsynced_vfs.h"

namespace sallyport::store {
namespace {

using core::Urgency;
using test::TestLedger;
using test::UnsyncedVfs;
using test::verdict;

class FaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    vfs_.restart();
    ledger_.vfs = UnsyncedVfs::kName;
  }
  void TearDown() override {
    vfs_.restart();
    ledger_.close();
  }

  Result<ledger::Positions> append(Urgency urgency, std::string call = {}) {
    std::vector<core::Draft> drafts = {TestLedger::event({{"text", "entry"}}, std::move(call))};
    return ledger_->append_blocking(std::move(drafts), urgency);
  }
  std::uint64_t size() { return test::all_entries(ledger_.store()).size(); }
  // The entries on a topic, with their counts of calls and reports.
  std::vector<std::string> accounts() {
    std::vector<std::string> told;
    for (const test::Seen& seen : test::all_entries(ledger_.store())) {
      const json::object& entry = seen.entry.as_object();
      if (!entry.contains("topic")) continue;
      const json::object& body = entry.at("body").as_object();
      told.push_back(fmt::format("{} {} {}", std::string_view(entry.at("topic").as_string()),
                                 body.at("calls").as_int64(), body.at("reports").as_int64()));
    }
    return told;
  }

  UnsyncedVfs& vfs_ = UnsyncedVfs::get();
  TestLedger ledger_;
};

struct Code {
  int code;
  std::string cause;
};
const Code kCodes[] = {{SQLITE_FULL, "no_space"},
                       {SQLITE_IOERR_WRITE, "io"},
                       {SQLITE_IOERR_FSYNC, "io"},
                       {SQLITE_READONLY, "read_only"}};

// LE-73, LE-77
TEST_F(FaultsTest, EachOperationOfACommitMayFailOnceAndNothingIsHalfWritten) {
  ledger_.open();
  for (const Code& fault : kCodes) {
    std::uint64_t failed = 0;
    for (std::uint64_t nth = 1;; ++nth) {
      const std::uint64_t before = size();
      vfs_.fail_at(nth, fault.code, false);
      const auto written = append(Urgency::Announces);
      const bool was_hit = vfs_.failures() > 0;
      vfs_.restart();
      if (!written) {
        ++failed;
        EXPECT_EQ(written.error().cause, fault.cause) << written.error().message;
        EXPECT_EQ(written.error().code, ErrorCode::Unavailable);
        EXPECT_EQ(size(), before);
        const auto again = append(Urgency::Announces);
        ASSERT_TRUE(again) << nth << ": " << again.error().message;
        EXPECT_EQ(again->at(0).sequence, before);
        EXPECT_TRUE(ledger_->health().ok);
      }
      if (!was_hit) break;
    }
    EXPECT_GE(failed, 2u) << "the writes and the sync of a commit";
    EXPECT_EQ(verdict(ledger_.store()), "ok") << fault.cause;
  }
}

// LE-74, LE-77
TEST_F(FaultsTest, AFaultThatLastsRefusesEverythingUntilItIsGone) {
  ledger_.open();
  for (const Code& fault : kCodes) {
    const std::uint64_t before = size();
    vfs_.fail_at(1, fault.code, true);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(append(Urgency::Announces).error().cause, fault.cause);
      EXPECT_EQ(append(Urgency::Reports).error().cause, fault.cause);
    }
    EXPECT_FALSE(ledger_->health().ok);
    EXPECT_EQ(ledger_->health().cause, fault.cause);
    EXPECT_EQ(size(), before) << "reading goes on";
    vfs_.restart();
    EXPECT_TRUE(append(Urgency::Announces));
    EXPECT_TRUE(ledger_->health().ok);
  }
  EXPECT_EQ(verdict(ledger_.store()), "ok");
  ledger_.close();
  ledger_.vfs.clear();
  ledger_.open();
  EXPECT_EQ(verdict(ledger_.store()), "ok");
}

// LE-73, LE-45
TEST_F(FaultsTest, EachOperationOfTheFirstStartMayFailAndTheNextStartIsAFirstOne) {
  for (std::uint64_t nth = 1;; ++nth) {
    TestLedger ledger;
    ledger.vfs = UnsyncedVfs::kName;
    vfs_.fail_at(nth, nth % 2 == 0 ? SQLITE_FULL : SQLITE_IOERR_FSYNC, false);
    const bool opened = ledger.try_open().has_value();
    const bool was_hit = vfs_.failures() > 0;
    vfs_.restart();
    if (!opened) {
      const auto again = ledger.try_open();
      ASSERT_TRUE(again) << nth << ": " << again.error().message;
    }
    EXPECT_EQ(verdict(ledger.store()), "ok") << nth;
    EXPECT_EQ(test::controls(ledger.store(), "key_created").size(), 1u);
    if (!was_hit) break;
    ASSERT_LT(nth, 200u);
  }
}

// LE-75
TEST_F(FaultsTest, WhenSpaceEndsTheReserveIsGivenUpForWhatHasHappened) {
  ledger_.open();
  const auto reserve = ledger_.folder / "reserve";
  EXPECT_EQ(std::filesystem::file_size(reserve), ledger_.settings.reserve_bytes);
  // Full until the reserve is gone.
  vfs_.fail_at(1, SQLITE_FULL, false);
  EXPECT_EQ(append(Urgency::Announces).error().cause, "no_space");
  EXPECT_FALSE(std::filesystem::exists(reserve));
  EXPECT_TRUE(append(Urgency::Reports));
  EXPECT_EQ(ledger_->health().ok, std::filesystem::exists(reserve))
      << "room for outcomes is no room for calls";
  EXPECT_TRUE(append(Urgency::Announces));
  EXPECT_TRUE(std::filesystem::exists(reserve));
  EXPECT_TRUE(ledger_->health().ok);
}

// LE-77: while reports kept arriving, the room for calls was once never checked again.
TEST_F(FaultsTest, ReportsThatKeepComingDoNotKeepTheLedgerFromRecovering) {
  ledger_.open();
  vfs_.fail_at(1, SQLITE_FULL, false);
  EXPECT_EQ(append(Urgency::Announces).error().cause, "no_space");
  const auto begin = std::chrono::steady_clock::now();
  while (!ledger_->ready() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
    EXPECT_TRUE(append(Urgency::Reports));
  }
  EXPECT_TRUE(ledger_->ready());
}

// LE-75
TEST_F(FaultsTest, AReportThatMeetsTheFullDiskItselfIsWrittenFromTheReserve) {
  ledger_.open();
  vfs_.fail_at(1, SQLITE_FULL, false);
  EXPECT_TRUE(append(Urgency::Reports)) << "the first try failed, the second used the reserve";
  EXPECT_EQ(vfs_.failures(), 1u);
  EXPECT_FALSE(std::filesystem::exists(ledger_.folder / "reserve"));
}

// LE-73: nothing depends on data that may not have reached the disk, until it is written again.
TEST_F(FaultsTest, ASyncThatNobodyWaitedForAndThatFailsRefusesWhatFollows) {
  ledger_.open();
  core::Draft draft = TestLedger::event({{"text", "entry"}});
  draft.waits_for_disk = false;
  (void)ledger_.append(std::move(draft));
  vfs_.fail_at(1, SQLITE_IOERR_FSYNC, false);
  while (vfs_.failures() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(append(Urgency::Announces).error().cause, "io");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_TRUE(append(Urgency::Announces));
  EXPECT_EQ(verdict(ledger_.store()), "ok");
}

// LE-76
TEST_F(FaultsTest, WhatIsOwedIsWrittenFirstAndInOrderWhenWritingWorksAgain) {
  ledger_.open();
  vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
  for (const char* const call : {"owed-1", "owed-2"}) {
    std::vector<core::Draft> drafts = {TestLedger::event({{"text", "outcome"}}, call)};
    ledger_->owe(std::move(drafts));
    EXPECT_FALSE(append(Urgency::Announces));
  }
  vfs_.restart();
  while (!ledger_->ready()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(append(Urgency::Announces, "later"));
  std::vector<std::string> calls;
  for (const test::Seen& seen : test::all_entries(ledger_.store())) {
    if (seen.entry.as_object().contains("call_id")) {
      calls.emplace_back(seen.entry.at("call_id").as_string());
    }
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"owed-1", "owed-2", "later"}));
}

core::Draft record_of(std::string call) {
  core::Draft draft =
      TestLedger::event({{"tool_call_id", std::string(1000, 'x')}}, std::move(call));
  draft.kind = core::Kind::ToolAudit;
  draft.outcome = "persistence_failed";
  return draft;
}

// Debts of calls once had no limit while the disk refused.
TEST_F(FaultsTest, WhatIsOwedHasABoundAndWhoeverWasTurnedAwayIsCounted) {
  ledger_.settings.owed_bytes = 100'000;
  ledger_.open();
  vfs_.fail_at(1, SQLITE_FULL, true);
  EXPECT_FALSE(append(Urgency::Announces));
  int calls = 0;
  while (ledger_->accept_call()) ledger_->owe({record_of(fmt::format("call-{}", ++calls))});
  EXPECT_GT(calls, 20);
  EXPECT_LT(calls, 100);
  const Result<void> refused = ledger_->accept_call();
  EXPECT_EQ(refused.error().cause, "no_space");
  EXPECT_NE(refused.error().message.find("without a record of its own"), std::string::npos);
  ledger_->owe({TestLedger::event({{"text", "a report"}}), TestLedger::event({{"text", "two"}})});
  ledger_->owe({record_of("was running")});

  vfs_.restart();
  while (!ledger_->ready()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(ledger_->accept_call());
  EXPECT_TRUE(append(Urgency::Announces, "later"));
  int records = 0;
  for (const test::Seen& seen : test::all_entries(ledger_.store())) {
    if (seen.entry.at("kind") == "tool_audit") ++records;
  }
  EXPECT_EQ(accounts(), std::vector<std::string>{"turned_away 2 2"});
  EXPECT_EQ(records, calls + 1) << "whatever ends a call is kept";
  EXPECT_EQ(verdict(ledger_.store()), "ok");
}

// An owed entry that cannot be sealed was once dropped silently.
TEST_F(FaultsTest, AnOwedEntryThatCannotBeSealedIsCounted) {
  ledger_.open();
  ledger_->owe({TestLedger::event({{"text", "unfit"}}, std::string(5000, 'c')),
                TestLedger::event({{"text", "fit"}}, "owed")});
  EXPECT_TRUE(append(Urgency::Announces));
  EXPECT_EQ(accounts(), std::vector<std::string>{"turned_away 0 1"});
  EXPECT_EQ(verdict(ledger_.store()), "ok");
}

// With more debts than one transaction holds, an append once waited until the disk recovered.
TEST_F(FaultsTest, NobodyWaitsForADiskThatRefusesHoweverMuchIsOwed) {
  ledger_.open();
  vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
  EXPECT_FALSE(append(Urgency::Announces));
  for (int i = 0; i < 5'000; ++i) ledger_->owe({record_of("owed")});
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    const auto refused = append(Urgency::Reports);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().cause, "io");
  }
}

// Debts were once paid by only one transaction a second.
TEST_F(FaultsTest, DebtsArePaidWithoutWaitingInBetween) {
  ledger_.open();
  vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
  EXPECT_FALSE(append(Urgency::Announces));
  for (int i = 0; i < 12'000; ++i) ledger_->owe({record_of("owed")});
  vfs_.restart();
  const auto begin = std::chrono::steady_clock::now();
  while (!ledger_->ready()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// A debt that the disk refused once kept the writer thread, and so the process, from ending.
TEST_F(FaultsTest, AProcessWithDebtsAndADeadDiskCanEnd) {
  ledger_.open();
  vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
  std::vector<core::Draft> drafts = {TestLedger::event({{"text", "outcome"}})};
  ledger_->owe(std::move(drafts));
  ledger_.close();
  vfs_.restart();
  ledger_.open();
  EXPECT_EQ(verdict(ledger_.store()), "ok");
}

// LE-54
TEST_F(FaultsTest, ADamagedFileFoundWhileWritingEndsWritingForGood) {
  ledger_.open();
  vfs_.fail_at(1, SQLITE_CORRUPT, false);
  EXPECT_EQ(append(Urgency::Announces).error().cause, "corrupt");
  vfs_.restart();
  EXPECT_EQ(append(Urgency::Announces).error().cause, "corrupt");
  EXPECT_EQ(append(Urgency::Reports).error().cause, "corrupt");
  EXPECT_EQ(ledger_->health().cause, "corrupt");
  ledger_.open();
  EXPECT_TRUE(append(Urgency::Announces)) << "a restart checks anew";
}

// LE-19: a commit touches as much at 5,000 entries as at 5.
TEST_F(FaultsTest, ALoneCommitWritesAsMuchInALargeLedgerAsInASmallOne) {
  ledger_.open();
  ledger_.append_many(10);
  const auto operations = [&] {
    vfs_.restart();
    EXPECT_TRUE(append(Urgency::Announces));
    return vfs_.operations();
  };
  std::uint64_t most = 0;
  for (int i = 0; i < 5; ++i) most = std::max(most, operations());
  ledger_.append_many(5000);
  for (int i = 0; i < 5; ++i) EXPECT_LE(operations(), most + 6) << "one more level of pages";
}

}  // namespace
}  // namespace sallyport::store
