// A caller without competition writes on its own thread; all others leave it to the writer thread.
// Runs under TSan.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

#include "support/eventually.h"
#include "support/ledger_checks.h"
#include "support/test_clock.h"

namespace sallyport::ledger {
namespace {

namespace asio = boost::asio;
using test::TestLedger;
using test::verdict;

// Called inside the transaction: runs the test's function on the thread that writes.
class InTransaction final : public core::FactChange {
 public:
  explicit InTransaction(std::function<void()> run) : run_(std::move(run)) {}
  Result<std::vector<core::Fact>> facts(const Stored&) const override {
    run_();
    return std::vector<core::Fact>{};
  }

 private:
  std::function<void()> run_;
};

struct InPlaceConcurrentTest : testing::Test {
  InPlaceConcurrentTest() { ledger.clock = &clock; }
  void open() {
    ledger.settings.in_place = true;
    ledger.open();
  }

  // Starts an append on the loop; `writer` is set to the thread that wrote it.
  void append(std::function<void()> meanwhile = [] {}) {
    core::Draft draft = TestLedger::event({{"n", 1}});
    draft.changes.push_back(std::make_shared<InTransaction>([this, meanwhile] {
      writer = std::this_thread::get_id();
      meanwhile();
    }));
    asio::co_spawn(loop, ledger->append({std::move(draft)}, core::Urgency::Announces),
                   [this](const std::exception_ptr&, const Result<Positions>& result) {
                     EXPECT_TRUE(result) << result.error().message;
                     written += result ? 1 : 0;
                   });
  }
  bool wrote_here(std::function<void()> meanwhile = [] {}) {
    append(std::move(meanwhile));
    loop.restart();
    loop.run();
    return writer == std::this_thread::get_id();
  }
  std::ptrdiff_t commits() {
    return std::ranges::count_if(test::all_entries(ledger.store()), [](const test::Seen& seen) {
      return !seen.stored.checkpoint.empty();
    });
  }
  // The writer thread sometimes takes the pen for a moment, even if nothing waits.
  bool writes_here_soon() {
    for (int n = 0; n < 100; ++n) {
      if (wrote_here()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  test::TestClock clock;  // stands still: no disk is slow unless a test requires it
  // Runs after every pending notification.
  asio::io_context loop;
  std::array<asio::io_context, 4> other_loops;
  TestLedger ledger;
  std::thread::id writer;
  int written = 0;
};

// LE-39, LE-40
TEST_F(InPlaceConcurrentTest, ALoneAppendIsWrittenOnTheThreadOfItsCaller) {
  ledger.open();
  EXPECT_FALSE(wrote_here());
  open();
  for (int n = 0; n < 5; ++n) EXPECT_TRUE(writes_here_soon());
  EXPECT_GE(written, 6);
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-40: no caller syncs alone while others are ready.
TEST_F(InPlaceConcurrentTest, AppendsThatAreReadyTogetherShareACommit) {
  constexpr int kCallers = 16;
  open();
  const auto before = commits();
  for (int n = 0; n < kCallers; ++n) append();
  loop.run();
  EXPECT_EQ(written, kCallers);
  EXPECT_LT(commits() - before, kCallers / 2);
}

// LE-40: the writer thread does not begin while others are ready.
TEST_F(InPlaceConcurrentTest, AFewAppendsOfOneTurnOfTheLoopAreOneCommit) {
  ledger.open();
  const auto before = commits();
  for (int n = 0; n < 3; ++n) append();
  loop.run();
  EXPECT_EQ(written, 3);
  EXPECT_EQ(commits() - before, 1);
}

TEST_F(InPlaceConcurrentTest, ALoopThatStandsStillDoesNotKeepItsRecordFromTheDisk) {
  open();
  const std::uint64_t before = ledger->size_seen();
  append();
  loop.run_one();  // the loop has promised to call the writer, and does not
  EXPECT_TRUE(test::eventually([&] { return ledger->size_seen() > before; }));
  EXPECT_EQ(written, 0);
  loop.run();
  EXPECT_EQ(written, 1);
}

// LE-40: callers that take turns would delay each other.
TEST_F(InPlaceConcurrentTest, WhoeverWasJoinedAMomentAgoLeavesItToTheWriterThread) {
  constexpr int kRemembered = 64;
  open();
  EXPECT_TRUE(writes_here_soon());
  append();
  append();
  loop.restart();
  loop.run();
  for (int n = 0; n < kRemembered - 2; ++n) EXPECT_FALSE(wrote_here());
  EXPECT_TRUE(writes_here_soon());
}

// LE-43: the loop continues while another process locks the ledger.
TEST_F(InPlaceConcurrentTest, ALockThatIsHeldElsewhereDoesNotStopTheLoop) {
  open();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(ledger.file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  asio::steady_timer later(loop, std::chrono::milliseconds(20));
  later.async_wait([&](const boost::system::error_code&) {
    EXPECT_EQ(written, 0);
    sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
  });
  EXPECT_FALSE(wrote_here());
  EXPECT_EQ(written, 1);
  EXPECT_TRUE(ledger->health().ok);
  sqlite3_close(other);
}

TEST_F(InPlaceConcurrentTest, ASlowDiskIsLeftToTheWriterThreadUntilItIsQuickAgain) {
  open();
  EXPECT_TRUE(writes_here_soon());
  wrote_here([&] { clock.advance(std::chrono::milliseconds(500)); });
  EXPECT_FALSE(wrote_here([&] { clock.advance(std::chrono::milliseconds(500)); }));
  EXPECT_FALSE(wrote_here());
  EXPECT_TRUE(writes_here_soon());
}

// LE-40: a second append of a caller does not overtake the first, which waits for others.
TEST_F(InPlaceConcurrentTest, AppendsOfOneCallerKeepTheirOrder) {
  open();
  std::vector<std::uint64_t> sequences;
  const auto append_one = [&](int n) {
    std::vector<core::Draft> drafts = {TestLedger::event({{"n", n}})};
    asio::co_spawn(loop, ledger->append(std::move(drafts), core::Urgency::Reports),
                   [&, n](const std::exception_ptr&, const Result<Positions>& result) {
                     ASSERT_TRUE(result);
                     sequences.resize(2);
                     sequences[static_cast<std::size_t>(n)] = result->front().sequence;
                   });
  };
  append_one(0);
  append_one(1);
  loop.run();
  EXPECT_LT(sequences.at(0), sequences.at(1));
}

// A loop that is stopped and destroyed after the ledger, as at the end of a process.
TEST_F(InPlaceConcurrentTest, AnAppendThatNeverGotItsTurnIsWrittenWhenTheLedgerCloses) {
  open();
  append();
  loop.run_one();  // seals, and lets others go first
  ledger.close();
  EXPECT_EQ(written, 0);
  loop.run();
  EXPECT_EQ(written, 1);
}

// LE-42
TEST_F(InPlaceConcurrentTest, CallersOnManyThreadsAndTheWriterPassOnePen) {
  constexpr int kEach = 40;
  open();
  {
    std::vector<std::jthread> threads;
    for (asio::io_context& own : other_loops) {
      threads.emplace_back([this, &own] {
        const auto work = [this]() -> Async<void> {
          for (int n = 0; n < kEach; ++n) {
            std::vector<core::Draft> drafts = {TestLedger::event({{"n", n}})};
            const auto done = co_await ledger->append(std::move(drafts), core::Urgency::Reports);
            EXPECT_TRUE(done);
          }
        };
        asio::co_spawn(own, work(), [](const std::exception_ptr& e) { EXPECT_FALSE(e); });
        own.run();
      });
    }
    threads.emplace_back([this] {
      for (int n = 0; n < kEach; ++n) ledger.append(TestLedger::event({{"n", n}}));
      EXPECT_TRUE(ledger->rotate_key(false));
    });
  }
  EXPECT_EQ(verdict(ledger.store()), "ok");
  EXPECT_EQ(test::all_entries(ledger.store()).size(), (other_loops.size() + 1) * kEach + 3u);
}

}  // namespace
}  // namespace sallyport::ledger
