// Power is lost at any operation: no acknowledged entry is lost, and the ledger stays valid.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "ledger/maintenance.h"
#include "support/ledger_checks.h"
#include "support/unsynced_vfs.h"

namespace sallyport::store {
namespace {

using Loss = test::UnsyncedVfs::Loss;
using test::TestLedger;
using test::UnsyncedVfs;
using test::verdict;

// SALLYPORT_CRASH_ROUNDS sets a larger number of rounds.
unsigned rounds() {
  const char* const wanted = std::getenv("SALLYPORT_CRASH_ROUNDS");
  return wanted == nullptr ? 15 : static_cast<unsigned>(std::atoi(wanted));
}

using Acknowledged = std::map<std::string, std::uint64_t>;  // sequence by id

void expect_all(TestLedger& ledger, const Acknowledged& acknowledged, const std::string& when) {
  Acknowledged stored;
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    stored.emplace(seen.entry.at("id").as_string(), seen.stored.sequence);
  }
  for (const auto& [id, sequence] : acknowledged) {
    const auto found = stored.find(id);
    ASSERT_TRUE(found != stored.end()) << when << ": " << sequence << " is lost";
    EXPECT_EQ(found->second, sequence) << when;
  }
}

// Appends, and sometimes moves the write-ahead log into the file, until power is lost.
void write_until_crash(TestLedger& ledger, std::mt19937& random, Acknowledged& acknowledged) {
  for (int i = 0; i < 60 && !UnsyncedVfs::get().crashed(); ++i) {
    if (random() % 8 == 0) {
      (void)ledger.store().scrub();
    } else if (random() % 12 == 0) {
      (void)ledger->transact(
          ledger::erase({.call_id = fmt::format("call-{}", random() % 40)}, "test", "test"));
    } else if (random() % 20 == 0) {
      (void)ledger->rotate_key(false);
    }
    std::vector<core::Draft> drafts;
    const std::size_t count = 1 + random() % 3;
    for (std::size_t n = 0; n < count; ++n) {
      drafts.push_back(TestLedger::event({{"text", std::string(random() % 2000, 't')}},
                                         fmt::format("call-{}", random() % 40)));
    }
    const auto written = ledger->append_blocking(std::move(drafts), core::Urgency::Announces);
    if (!written) continue;
    for (const core::Position& position : *written) {
      acknowledged.emplace(position.id, position.sequence);
    }
  }
}

class UnsyncedTest : public testing::TestWithParam<Loss> {
 protected:
  void TearDown() override { UnsyncedVfs::get().restart(); }
  UnsyncedVfs& vfs_ = UnsyncedVfs::get();
};

// LE-39, LE-41, LE-53
TEST_P(UnsyncedTest, NothingAcknowledgedIsLostWhereverPowerEnds) {
  TestLedger ledger;
  Acknowledged acknowledged;
  std::mt19937 random(20251115);
  for (unsigned round = 0; round < rounds(); ++round) {
    ledger.vfs = UnsyncedVfs::kName;
    ledger.open();
    vfs_.crash_at(1 + random() % 150, GetParam(), round);
    write_until_crash(ledger, random, acknowledged);
    vfs_.crash(GetParam(), round);
    ledger.close();
    vfs_.restart();
    ledger.vfs.clear();
    ledger.open();
    const std::string when = fmt::format("round {}", round);
    ASSERT_EQ(verdict(ledger.store()), "ok") << when;
    expect_all(ledger, acknowledged, when);
    ledger.close();
  }
  EXPECT_GT(acknowledged.size(), 100u);
}

// LE-41
TEST_P(UnsyncedTest, PowerMayEndAtAnyOperationOfTheFirstStart) {
  for (std::uint64_t nth = 1;; ++nth) {
    TestLedger ledger;
    ledger.vfs = UnsyncedVfs::kName;
    vfs_.crash_at(nth, GetParam(), static_cast<unsigned>(nth));
    const bool opened = ledger.try_open().has_value();
    const bool done = !vfs_.crashed();
    vfs_.crash(GetParam(), static_cast<unsigned>(nth));
    ledger.close();
    vfs_.restart();
    ledger.vfs.clear();
    const auto again = ledger.try_open();
    ASSERT_TRUE(again) << nth << ": " << again.error().message;
    EXPECT_EQ(verdict(ledger.store()), "ok") << nth;
    if (opened) EXPECT_EQ(test::controls(ledger.store(), "started").size(), 2u) << nth;
    if (done) break;
    ASSERT_LT(nth, 200u);
  }
}

// LE-39: an acknowledged entry is synced, so losing power right after it changes nothing.
TEST_P(UnsyncedTest, EveryAcknowledgedEntryIsSyncedWhenItIsAcknowledged) {
  TestLedger ledger;
  for (unsigned round = 0; round < 10; ++round) {
    ledger.vfs = UnsyncedVfs::kName;
    ledger.open();
    const std::uint64_t last = ledger.append(TestLedger::event({{"n", round}})).sequence;
    vfs_.crash(GetParam(), round);
    ledger.close();
    vfs_.restart();
    ledger.vfs.clear();
    ledger.open();
    EXPECT_GT(test::all_entries(ledger.store()).size(), last);
    EXPECT_EQ(verdict(ledger.store()), "ok");
    ledger.close();
  }
}

core::Draft at_leisure(unsigned n) {
  core::Draft draft = TestLedger::event({{"n", n}});
  draft.waits_for_disk = false;
  return draft;
}

bool holds(TestLedger& ledger, std::uint64_t sequence) {
  return test::all_entries(ledger.store()).size() > sequence;
}

// LE-39 (partly): an entry that does not wait for the disk reaches it some moments later.
TEST_P(UnsyncedTest, WhatDidNotWaitForTheDiskIsOnItSoon) {
  TestLedger ledger;
  for (unsigned round = 0; round < 6; ++round) {
    ledger.vfs = UnsyncedVfs::kName;
    ledger.open();
    const std::uint64_t synced = ledger.append(TestLedger::event({{"n", round}})).sequence;
    const std::uint64_t last = ledger.append(at_leisure(round)).sequence;
    const bool waits = round % 2 == 0;
    if (waits) std::this_thread::sleep_for(std::chrono::seconds(1));
    vfs_.crash(GetParam(), round);
    ledger.close();
    vfs_.restart();
    ledger.vfs.clear();
    ledger.open();
    EXPECT_EQ(verdict(ledger.store()), "ok");
    EXPECT_TRUE(holds(ledger, synced));
    if (waits) EXPECT_TRUE(holds(ledger, last));
    ledger.close();
  }
}

// LE-39: a synced entry also syncs the earlier entries that did not wait.
TEST_P(UnsyncedTest, WhoeverWaitsForTheDiskWaitsForAllBeforeHim) {
  TestLedger ledger;
  ledger.vfs = UnsyncedVfs::kName;
  ledger.open();
  (void)ledger.append(at_leisure(1));
  const std::uint64_t last = ledger.append(TestLedger::event({{"n", 2}})).sequence;
  vfs_.crash(GetParam());
  ledger.close();
  vfs_.restart();
  ledger.vfs.clear();
  ledger.open();
  EXPECT_EQ(verdict(ledger.store()), "ok");
  EXPECT_TRUE(holds(ledger, last));
}

// LE-51, LE-52: a witness that is ahead of its ledger would stop the next start.
TEST_P(UnsyncedTest, NothingIsWitnessedThatPowerCouldStillTakeAway) {
  TestLedger ledger;
  ledger.settings.checkpoint_copy = ledger.folder.path() / "witness";
  ledger.vfs = UnsyncedVfs::kName;
  ledger.open();
  for (unsigned n = 0; n < 12; ++n) {
    (void)ledger.append(at_leisure(n));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  vfs_.crash(GetParam());
  ledger.close();
  vfs_.restart();
  ledger.vfs.clear();
  const auto again = ledger.try_open();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// The layer itself drops unsynced data; otherwise the tests above would prove nothing.
TEST(UnsyncedVfsTest, AStoreThatDoesNotSyncLosesWhatItAcknowledged) {
  UnsyncedVfs& vfs = UnsyncedVfs::get();
  const test::TempFolder folder;
  const auto insert = [](ledger::WriteView& view) {
    return view.put_fact({"space", "key", "value"});
  };
  {
    auto store =
        SqliteStore::open({.file = folder / "ledger.db", .sync = false, .vfs = UnsyncedVfs::kName});
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->write(insert));
    vfs.crash(Loss::All);
  }
  vfs.restart();
  EXPECT_EQ(std::filesystem::file_size(folder / "ledger.db"), 0u);
  EXPECT_FALSE(std::filesystem::exists(folder / "ledger.db-wal"));
}

INSTANTIATE_TEST_SUITE_P(Power, UnsyncedTest, testing::Values(Loss::All, Loss::Some),
                         [](const testing::TestParamInfo<Loss>& info) {
                           return info.param == Loss::All ? "AllUnsyncedIsLost" : "SomeIsLost";
                         });

}  // namespace
}  // namespace sallyport::store
