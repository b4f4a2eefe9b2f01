// The start of a ledger: its checks, its entries, and the calls that it closes for dead processes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <stop_token>
#include <thread>

#include "ledger/member/instance_lock.h"
#include "support/ledger_checks.h"
#include "support/test_clock.h"

namespace sallyport::ledger {
namespace {

using test::controls;
using test::TestLedger;
using test::verdict;

std::vector<std::string> control_names(TestLedger& ledger) {
  std::vector<std::string> names;
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    if (seen.entry.at("kind") != json::value("control")) continue;
    names.emplace_back(seen.body.at("control").as_string());
  }
  return names;
}

// Runs `work` on the ledger in a process that then dies without cleanup.
void die_after(TestLedger& ledger, const std::function<void(TestLedger&)>& work) {
  ledger.close();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ledger.open();
    work(ledger);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

// LE-68, LE-70
TEST(StartTest, StartsAndCleanStopsAreSaid) {
  TestLedger ledger;
  ledger.open();
  ledger.close();
  ledger.open();
  EXPECT_EQ(control_names(ledger),
            (std::vector<std::string>{"key_created", "started", "stopped", "gap", "started"}));
  const json::object gap = controls(ledger.store(), "gap").at(0);
  EXPECT_EQ(gap.at("clean"), json::value(true));
  EXPECT_EQ(gap.at("last_entry_at"),
            test::all_entries(ledger.store()).at(2).entry.at("recorded_at"));
  EXPECT_EQ(controls(ledger.store(), "started").at(1).at("role"), "test");
}

// LE-70
TEST(StartTest, AStartAfterACrashSaysSoAndClosesWhatWasOpen) {
  TestLedger ledger;
  std::vector<std::string> closed;
  ledger.close_interrupted = [&](const json::object& entry) {
    closed.push_back(fmt::format("{} {}", std::string(entry.at("call_id").as_string()),
                                 std::string(entry.at("body").at("input").as_string())));
    core::Draft draft{.kind = core::Kind::ToolAudit, .outcome = "unknown"};
    draft.subject.set(&Subject::call_id, std::string(entry.at("call_id").as_string()));
    return std::vector{std::move(draft)};
  };
  die_after(ledger, [](TestLedger& dying) {
    core::Draft intent{.kind = core::Kind::Intent, .body = {{"input", "what was asked"}}};
    intent.subject.set(&Subject::call_id, "call-1");
    intent.facts.push_back({"open_call", "call-1", dying->instance_id(), true});
    dying.append(intent);
    dying.append_many(300);
  });
  ledger.open();
  EXPECT_EQ(closed, std::vector<std::string>{"call-1 what was asked"});
  EXPECT_EQ(controls(ledger.store(), "gap").at(0).at("clean"), json::value(false));
  const auto entries = test::all_entries(ledger.store());
  const std::size_t size = entries.size();
  EXPECT_EQ(entries.at(size - 3).body.at("control"), "gap");
  EXPECT_EQ(entries.at(size - 2).entry.at("outcome"), "unknown") << "right after the gap";
  EXPECT_EQ(entries.at(size - 1).body.at("control"), "started");
  ledger.close();
  closed.clear();
  ledger.open();
  EXPECT_TRUE(closed.empty()) << "once";
  EXPECT_EQ(controls(ledger.store(), "gap").at(1).at("clean"), json::value(true));
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-70
TEST(StartTest, ASecondWriterBesideALiveOneIsNoGapAndClosesNothingOfIt) {
  TestLedger ledger;
  ledger.open();
  core::Draft intent{.kind = core::Kind::Intent, .body = {{"input", "running"}}};
  intent.subject.set(&Subject::call_id, "call-1");
  intent.facts.push_back({"open_call", "call-1", ledger->instance_id(), true});
  ledger.append(intent);
  bool closed = false;
  auto store = *store::SqliteStore::open({.file = ledger.file()});
  const core::NoRedactor redactor;
  const SystemClock clock;
  SystemEntropy entropy;
  auto close = [&](const json::object&) {
    closed = true;
    return std::vector<core::Draft>{};
  };
  auto second = Ledger::open({*store, redactor, clock, entropy, close}, ledger.settings);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(closed);
  EXPECT_TRUE(controls(ledger.store(), "gap").empty());
}

// LE-71
TEST(StartTest, AnIntervalOfFailingOpenThatACrashCutIsEndedAtStart) {
  TestLedger ledger;
  die_after(ledger, [](TestLedger& dying) {
    core::Draft began = control("fail_open_started", {{"guard", "g"}, {"cause", "timeout"}});
    began.facts.push_back({"fail_open", "g",
                           canonical_json(json::object{{"instance", dying->instance_id()},
                                                       {"guard", "g"},
                                                       {"cause", "timeout"},
                                                       {"calls", 3}})});
    dying.append(began);
  });
  ledger.open();
  const json::object ended = controls(ledger.store(), "fail_open_ended").at(0);
  EXPECT_EQ(ended.at("guard"), "g");
  EXPECT_EQ(ended.at("calls"), json::value(3));
  EXPECT_EQ(ended.at("ended_by"), "restart");
  ledger.close();
  ledger.open();
  EXPECT_EQ(controls(ledger.store(), "fail_open_ended").size(), 1u);
}

// LE-70: liveness is a lock, not a file.
TEST(StartTest, AnInstanceIsAliveAsLongAsItHoldsItsLock) {
  const test::TempFolder folder;
  {
    const auto lock = InstanceLock::take(folder.path(), "one");
    ASSERT_TRUE(lock);
    EXPECT_TRUE(InstanceLock::alive(folder.path(), "one"));
    EXPECT_TRUE(InstanceLock::alive(folder.path(), "one")) << "looking does not end it";
    EXPECT_FALSE(InstanceLock::take(folder.path(), "one"));
  }
  EXPECT_FALSE(InstanceLock::alive(folder.path(), "one"));
  EXPECT_FALSE(InstanceLock::alive(folder.path(), "never"));
}

// LE-70
TEST(StartTest, OnlyLocksOfLivingInstancesAreCounted) {
  const test::TempFolder folder;
  EXPECT_EQ(InstanceLock::count_living(folder.path()), 0u);
  const auto one = InstanceLock::take(folder.path(), "one");
  const auto two = InstanceLock::take(folder.path(), "two");
  ASSERT_TRUE(one && two);
  std::ofstream(folder.path() / "instances" / "one.txt") << "no lock";
  std::ofstream(folder.path() / "instances" / "gone.lock") << "of a dead one";
  EXPECT_EQ(InstanceLock::count_living(folder.path()), 2u);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "instances" / "one.txt"));
}

// A process without free descriptors once took every other instance for dead: it closed their calls
// and removed their locks.
TEST(StartTest, ALookThatFailsTakesNoInstanceForDead) {
  const test::TempFolder folder;
  const auto lock = InstanceLock::take(folder.path(), "one");
  ASSERT_TRUE(lock);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool alive = InstanceLock::alive(folder.path(), "one");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(alive);
  EXPECT_TRUE(InstanceLock::alive(folder.path(), "one"));
}

// A process that was killed while it started a child once seemed alive until the child called exec:
// the child holds a copy of the lock. The demo missed the recovery of its victim that way.
TEST(StartTest, AProcessThatWasKilledIsDeadAlthoughItsChildStillHoldsTheLock) {
  const test::TempFolder folder;
  int ready[2];
  int end[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    auto lock = InstanceLock::take(folder.path(), "one");
    if (!lock || fork() != 0) {
      char c = lock ? 'x' : '!';
      (void)!::write(ready[1], &c, 1);
      pause();
    }
    ::close(end[1]);
    char c = 0;
    (void)!::read(end[0], &c, 1);  // between fork and exec, until the test ends
    _exit(0);
  }
  char c = 0;
  ASSERT_EQ(::read(ready[0], &c, 1), 1);
  ASSERT_EQ(c, 'x');
  EXPECT_TRUE(InstanceLock::alive(folder.path(), "one"));
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  EXPECT_FALSE(InstanceLock::alive(folder.path(), "one"));
  for (const int descriptor : {ready[0], ready[1], end[0], end[1]}) ::close(descriptor);
}

// Between the creation of a lock file and its locking, a search of the folder once removed the file
// of a live instance: others would have closed its calls.
TEST(StartTest, WhoLooksWhileAnInstanceStartsDoesNotTakeItForADeadOne) {
  const test::TempFolder folder;
  const std::jthread looking([&](const std::stop_token& done) {
    while (!done.stop_requested()) (void)InstanceLock::count_living(folder.path());
  });
  for (int i = 0; i < 2000; ++i) {
    const auto lock = InstanceLock::take(folder.path(), fmt::format("i{}", i));
    ASSERT_TRUE(lock) << lock.error().message;
    ASSERT_TRUE(InstanceLock::alive(folder.path(), fmt::format("i{}", i))) << i;
  }
}

// LE-45
TEST(StartTest, ADamagedTailOrCheckpointStopsTheStartWithItsPlace) {
  const std::pair<const char*, const char*> damages[] = {
      {"UPDATE entries SET bytes = CAST(bytes || x'20' AS BLOB) WHERE sequence = 40", "entry 40"},
      {"UPDATE entries SET leaf = zeroblob(32) WHERE sequence = 41", "entry 41"},
      {"DELETE FROM entries WHERE sequence = 42", "42"},
      {"UPDATE entries SET checkpoint = NULL WHERE sequence = (SELECT MAX(sequence) FROM entries)",
       "checkpoint"},
      {"UPDATE nodes SET hash = zeroblob(32)", "does not fit the tree"},
      {"DELETE FROM entries WHERE sequence = (SELECT MAX(sequence) FROM entries) - 3", "missing"}};
  for (const auto& [sql, place] : damages) {
    TestLedger ledger;
    ledger.open();
    ledger.append_many(300);
    ledger.close();
    ledger.sql(sql);
    const auto refused = ledger.try_open();
    ASSERT_FALSE(refused) << sql;
    EXPECT_EQ(refused.error().cause, "corrupt") << sql;
    EXPECT_NE(refused.error().message.find(place), std::string::npos)
        << sql << ": " << refused.error().message;
  }
}

// LE-45
TEST(StartTest, OnlyTheLast4096EntriesAreReadBeforeTheFirstAppend) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(5000);
  ledger.close();
  // Damage far from the end: the start does not detect it, the full check does.
  ledger.sql("UPDATE entries SET bytes = CAST(bytes || x'20' AS BLOB) WHERE sequence = 40");
  ledger.open();
  EXPECT_EQ(verdict(ledger.store()), "entry_bytes at 40");
  ledger.close();
  ledger.sql("UPDATE entries SET bytes = CAST(bytes || x'20' AS BLOB) WHERE sequence = 950");
  EXPECT_FALSE(ledger.try_open());
}

// LE-44
TEST(StartTest, AnAllowedNetworkFileSystemIsRecorded) {
  TestLedger ledger;
  ledger.settings.network_file_system = "nfs";
  ledger.open();
  EXPECT_EQ(controls(ledger.store(), "started").at(0).at("network_file_system"), "nfs");
}

// LE-24
TEST(StartTest, EveryCommitEndsInExactlyOneCheckpointForItsSize) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(3);
  ledger.append_many(700);
  const auto entries = test::all_entries(ledger.store());
  std::vector<std::uint64_t> signed_sizes;
  for (const test::Seen& seen : entries) {
    if (seen.stored.checkpoint.empty()) continue;
    const Result<Note> note = Note::parse(seen.stored.checkpoint);
    ASSERT_TRUE(note);
    const Result<Checkpoint> state = Checkpoint::parse(note->text);
    EXPECT_EQ(state->size, seen.stored.sequence + 1);
    signed_sizes.push_back(state->size);
  }
  // The entry of the start, three closed calls at once, then two groups of at most 500.
  EXPECT_EQ(signed_sizes, (std::vector<std::uint64_t>{2, 5, 505, 705}));
}

// LE-19, LE-45
TEST(StartTest, TheEdgeOfAGrownTreeIsThatOfItsLeaves) {
  TestLedger ledger;
  ledger.open();
  for (const std::size_t step : {1, 250, 5, 600, 1}) {
    ledger.append_many(step);
    ledger.close();
    ledger.open();  // rebuilds the edge from nodes and tail
  }
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

}  // namespace
}  // namespace sallyport::ledger
