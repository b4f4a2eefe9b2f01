// Many callers, one writer thread, readers alongside. Runs under TSan.
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>

#include "ledger/maintenance.h"
#include "support/ledger_checks.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using test::verdict;

// LE-3, LE-40, LE-63
TEST(LedgerConcurrentTest, ManyCallersGetOneTreeAndEachKeepsItsOrder) {
  constexpr int kThreads = 8;
  constexpr int kEach = 60;
  TestLedger ledger;
  ledger.open();
  std::vector<std::vector<core::Position>> written(kThreads);
  std::atomic<bool> writing = true;
  std::thread reader([&] {
    std::uint64_t last = 0;
    while (writing) {
      const Result<void> read = ledger.store().read([&](ReadView& view) -> Result<void> {
        const auto size = view.size();
        EXPECT_TRUE(size);
        EXPECT_GE(*size, last);
        last = *size;
        // Every visible state ends in a checkpoint: no partial commit.
        const auto newest = view.entry(last - 1);
        EXPECT_FALSE((*newest)->checkpoint.empty());
        return {};
      });
      EXPECT_TRUE(read);
      EXPECT_TRUE(ledger->health().ok);
    }
  });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int n = 0; n < kEach; ++n) {
          written[t].push_back(ledger.append(TestLedger::event({{"t", t}, {"n", n}})));
        }
      });
    }
  }
  writing = false;
  reader.join();
  std::set<std::uint64_t> sequences;
  for (const auto& own : written) {
    EXPECT_TRUE(std::ranges::is_sorted(own, {}, &core::Position::sequence));
    for (const core::Position& position : own) sequences.insert(position.sequence);
  }
  EXPECT_EQ(sequences.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_EQ(*sequences.rbegin(), kThreads * kEach + 1u);
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-26, LE-57, LE-61
TEST(LedgerConcurrentTest, RotationErasureAndHoldsGoOnBesideAppends) {
  TestLedger ledger;
  ledger.open();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < 40; ++n) {
        ledger.append(TestLedger::event({{"text", "t"}}, "call-" + std::to_string(t)));
      }
    });
  }
  threads.emplace_back([&] {
    for (int n = 0; n < 3; ++n) EXPECT_TRUE(ledger->rotate_key(false));
  });
  threads.emplace_back([&] {
    for (int n = 0; n < 5; ++n) {
      const std::string id = "hold-" + std::to_string(n);
      EXPECT_TRUE(ledger->transact(set_hold(id, {.call_id = "call-2"}, "w", "r")));
      (void)ledger->transact(erase({.call_id = "call-1"}, "w", "r"));
      (void)ledger.store().scrub();
      EXPECT_TRUE(ledger->transact(lift_hold(id, "w", "r")));
    }
  });
  threads.clear();
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-42: two ledgers on one file, as two processes would open them.
TEST(LedgerConcurrentTest, TwoWritersOnOneFileFollowEachOther) {
  TestLedger first;
  first.open();
  auto store = *store::SqliteStore::open({.file = first.file()});
  const core::NoRedactor redactor;
  const SystemClock clock;
  SystemEntropy entropy;
  auto second = Ledger::open({*store, redactor, clock, entropy}, first.settings);
  ASSERT_TRUE(second) << second.error().message;
  {
    std::jthread one([&] {
      for (int n = 0; n < 150; ++n) first.append(TestLedger::event({{"n", n}}));
    });
    std::jthread two([&] {
      for (int n = 0; n < 150; ++n) {
        std::vector<core::Draft> drafts = {TestLedger::event({{"n", n}})};
        EXPECT_TRUE((*second)->append_blocking(std::move(drafts), core::Urgency::Announces));
      }
    });
  }
  EXPECT_EQ(verdict(first.store()), "ok");
  EXPECT_EQ(test::all_entries(first.store()).size(), 303u);
}

// LE-40
TEST(LedgerConcurrentTest, WhatWaitsGoesIntoOneCommitUpToItsBound) {
  constexpr std::size_t kWaiting = 2500;
  constexpr std::uint64_t kBound = 2048;
  TestLedger ledger;
  ledger.open();
  std::latch writing(1);
  std::latch queued(1);
  std::jthread busy([&] {
    EXPECT_TRUE(ledger->transact([&](WriteView&) -> Result<std::vector<core::Draft>> {
      writing.count_down();
      queued.wait();
      return std::vector{TestLedger::event({{"n", 0}})};
    }));
  });
  writing.wait();
  for (std::size_t n = 0; n < kWaiting; ++n) {
    std::vector<core::Draft> drafts = {TestLedger::event({{"n", n}})};
    ledger->owe(std::move(drafts));
  }
  queued.count_down();
  ledger.append(TestLedger::event({{"n", 0}}));
  ledger.append(TestLedger::event({{"n", 0}}));
  std::vector<std::uint64_t> commits;
  std::uint64_t before = 0;
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    if (seen.stored.checkpoint.empty()) continue;
    commits.push_back(seen.stored.sequence + 1 - before);
    before = seen.stored.sequence + 1;
  }
  EXPECT_EQ(std::ranges::max(commits), kBound);
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-40: appends that wait at the close are written, and nothing after them.
TEST(LedgerConcurrentTest, ClosingWritesWhatWaits) {
  TestLedger ledger;
  ledger.open();
  std::vector<core::Draft> owed = {TestLedger::event({{"n", 7}}, "owed")};
  ledger->owe(std::move(owed));
  ledger.close();
  ledger.open();
  const auto entries = test::all_entries(ledger.store());
  EXPECT_EQ(entries.at(2).entry.at("call_id"), "owed");
  EXPECT_EQ(entries.at(3).body.at("control"), "stopped");
}

}  // namespace
}  // namespace sallyport::ledger
