#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "sallyport/continuation.h"
#include "store_on_disk.h"

namespace sallyport::sessions {
namespace {

using ::testing::HasSubstr;

class Leases : public StoreOnDisk {};

// RT-78, RT-79
TEST_F(Leases, SecondInstanceIsToldTheHolderAndTheExpiryAndChangesNothing) {
  lease("s-1", "i-1");
  const std::optional<Session> before = *store_->session("s-1");
  const auto other = open();
  const Result<Lease> refused = other->take_lease("s-1", "writer", "i-2", 30s, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  EXPECT_EQ(refused.error().cause, "lease_unavailable");
  EXPECT_THAT(refused.error().message, HasSubstr("`i-1`"));
  EXPECT_THAT(refused.error().message, HasSubstr(rfc3339(clock_.wall() + 30s)));
  EXPECT_EQ((*store_->session("s-1"))->updated_at, before->updated_at);
}

// RT-79
TEST_F(Leases, AnInstanceThatHoldsALeaseDoesNotGetItTwice) {
  lease("s-1", "i-1");
  EXPECT_EQ(cause_of(store_->take_lease("s-1", "writer", "i-1", 30s, {})), "lease_unavailable");
}

// RT-78
TEST_F(Leases, RenewalKeepsALeaseAndItsEpoch) {
  const Lease first = lease();
  clock_.advance(29s);
  const Result<Lease> renewed = store_->renew(first, 30s);
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->epoch, first.epoch);
  EXPECT_EQ(renewed->expires_at, clock_.wall() + 30s);
  clock_.advance(29s);
  EXPECT_TRUE(store_->append(first, std::vector{text_item("later")}));
}

// RT-81
TEST_F(Leases, ALeaseThatHasRunOutIsNeitherRenewedNorWrittenUnder) {
  const Lease old = lease();
  clock_.advance(30s);
  EXPECT_EQ(cause_of(store_->renew(old, 30s)), "lease_lost");
  EXPECT_EQ(cause_of(store_->append(old, std::vector{text_item("late")})), "lease_lost");
  EXPECT_EQ(cause_of(store_->release(old)), "lease_lost");
  EXPECT_TRUE((*store_->items("s-1")).empty());
}

// RT-80
TEST_F(Leases, EachTakeOverRaisesTheEpochAndFencesThePausedHolder) {
  const Lease paused = lease("s-1", "i-1");
  ASSERT_TRUE(store_->append(paused, std::vector{text_item("one")}));
  clock_.advance(31s);
  const auto other = open();
  const Result<Lease> taken = other->take_lease("s-1", "writer", "i-2", 30s, {});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->epoch, paused.epoch + 1);

  std::size_t length = 0;
  const NewItem summary = text_item("summary");
  EXPECT_EQ(cause_of(store_->append(paused, std::vector{text_item("two")})), "lease_lost");
  EXPECT_EQ(cause_of(store_->compact(paused, 1, 1, summary, length)), "lease_lost");
  EXPECT_EQ(cause_of(store_->begin_run(paused, {.id = "r-9"})), "lease_lost");
  EXPECT_EQ(cause_of(store_->begin_task(paused, task("t-9"), 8)), "lease_lost");
  EXPECT_EQ(cause_of(store_->snapshot(paused, folder_ / "snapshots")), "lease_lost");
  EXPECT_EQ(cause_of(store_->renew(paused, 30s)), "lease_lost");
  EXPECT_EQ(cause_of(store_->release(paused)), "lease_lost");
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_TRUE(other->append(*taken, std::vector{text_item("two")}));
}

// RT-80: an epoch of another session, or an invented one, gives no access.
TEST_F(Leases, AForgedLeaseWritesNothing) {
  const Lease good = lease();
  for (Lease forged : {Lease{"s-1", "i-1", good.epoch + 1, good.expires_at},
                       Lease{"s-1", "i-2", good.epoch, good.expires_at},
                       Lease{"s-1", "", 0, good.expires_at}, Lease{"s-2", "i-1", 1, {}}}) {
    EXPECT_EQ(cause_of(store_->append(forged, std::vector{text_item("x")})), "lease_lost");
  }
}

TEST_F(Leases, AReleasedLeaseIsFreeAtOnceAndItsEpochGoesOn) {
  const Lease first = lease("s-1", "i-1");
  ASSERT_TRUE(store_->release(first));
  EXPECT_EQ(cause_of(store_->append(first, std::vector{text_item("x")})), "lease_lost");
  EXPECT_EQ(lease("s-1", "i-2").epoch, first.epoch + 1);
}

// RT-83: a process that is known to be dead does not keep its session for 30 s.
TEST_F(Leases, TheLeaseOfADeadInstanceIsTakenOver) {
  lease("s-1", "i-1");
  const auto dead = [](const std::string& instance) { return instance == "i-1"; };
  EXPECT_TRUE(store_->take_lease("s-1", "writer", "i-2", 30s, dead));
}

// RT-10
TEST_F(Leases, ASessionOfAnotherAgentIsRefused) {
  ASSERT_TRUE(store_->release(lease()));
  EXPECT_EQ(cause_of(store_->take_lease("s-1", "reader", "i-2", 30s, {})), "other_agent");
}

TEST_F(Leases, IdsAreBounded) {
  for (const std::string& id : {std::string(), std::string(257, 'x'), std::string("a\nb"),
                                std::string("a\0b", 3), std::string("\xff")}) {
    EXPECT_EQ(code_of(store_->take_lease(id, "writer", "i-1", 30s, {})), ErrorCode::InvalidInput);
    EXPECT_EQ(code_of(store_->take_lease("s", id, "i-1", 30s, {})), ErrorCode::InvalidInput);
    EXPECT_EQ(code_of(store_->take_lease("s", "writer", id, 30s, {})), ErrorCode::InvalidInput);
  }
  EXPECT_TRUE(store_->sessions(10)->empty());
}

class Runs : public StoreOnDisk {};

TEST_F(Runs, RunsAreKeptOldestFirstWithTheirEnds) {
  const Lease held = lease();
  ASSERT_TRUE(store_->begin_run(held, {.id = "r-1", .trace_id = "t-1"}));
  clock_.advance(1s);
  ASSERT_TRUE(store_->end_run(
      held, {.id = "r-1", .status = RunStatus::AwaitingApproval, .continuation = R"({"a":1})"}));
  ASSERT_TRUE(store_->begin_run(held, {.id = "r-2", .trace_id = "t-2"}));
  const std::vector<sessions::Run> runs = *store_->runs("s-1");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].status, RunStatus::AwaitingApproval);
  EXPECT_EQ(runs[0].continuation, R"({"a":1})");
  EXPECT_EQ(runs[0].agent_id, "writer");
  EXPECT_EQ(runs[0].ended_at, rfc3339(clock_.wall()));
  EXPECT_EQ(runs[1].status, RunStatus::Running);
  EXPECT_EQ(runs[1].ended_at, "");
  EXPECT_EQ(runs[1].instance_id, "i-1");
}

// A run whose waiting turn had over 1 MiB could not end as waiting.
// RT-87 (partly), AU-95 (partly)
TEST_F(Runs, AContinuationOfEightMebibytesIsKept) {
  const Lease held = lease();
  const auto end = [&](const std::string& id, std::size_t size) {
    EXPECT_TRUE(store_->begin_run(held, {.id = id}));
    return store_->end_run(
        held,
        {.id = id, .status = RunStatus::AwaitingApproval, .continuation = std::string(size, 'x')});
  };
  ASSERT_TRUE(end("r-1", kContinuationBytes));
  EXPECT_EQ(store_->runs("s-1")->at(0).continuation.size(), kContinuationBytes);
  EXPECT_EQ(end("r-2", kContinuationBytes + 1).error().code, ErrorCode::Exhausted);
}

// RT-74, RT-77
TEST_F(Runs, ARequestOfAnotherProcessStaysUntilTheNextRunBegins) {
  const Lease held = lease();
  ASSERT_TRUE(store_->begin_run(held, {.id = "r-1"}));
  const auto other = open();
  EXPECT_EQ(*store_->requested("s-1"), Request::None);
  ASSERT_TRUE(other->request("s-1", Request::Stop));
  EXPECT_EQ(*store_->requested("s-1"), Request::Stop);
  ASSERT_TRUE(other->request("s-1", Request::Cancel));
  ASSERT_TRUE(other->request("s-1", Request::Stop));  // takes no cancel back
  EXPECT_EQ(*store_->requested("s-1"), Request::Cancel);
  ASSERT_TRUE(store_->begin_run(held, {.id = "r-2"}));
  EXPECT_EQ(*store_->requested("s-1"), Request::None);
  EXPECT_EQ(code_of(other->request("s-2", Request::Cancel)), ErrorCode::NotFound);
}

// RT-81, RT-83
TEST_F(Runs, AnAbortedRunIsEndedUnderALostLeaseButOnlyOnce) {
  const Lease lost = lease();
  ASSERT_TRUE(store_->begin_run(lost, {.id = "r-1"}));
  clock_.advance(31s);
  EXPECT_EQ(cause_of(store_->end_run(lost, {.id = "r-1", .status = RunStatus::Finished})),
            "lease_lost");
  const sessions::Run aborted{.id = "r-1", .status = RunStatus::Aborted, .reason = "lease_lost"};
  ASSERT_TRUE(store_->end_run(lost, aborted));
  EXPECT_EQ(cause_of(store_->end_run(lost, aborted)), "already_closed");
  EXPECT_EQ(store_->runs("s-1")->at(0).reason, "lease_lost");
}

// RT-83
TEST_F(Runs, RecoveryFindsWhatRunOutLeasesLeftAndClosesItOnce) {
  const Lease gone = lease("s-1", "i-1");
  ASSERT_TRUE(store_->begin_run(gone, {.id = "r-1", .trace_id = "t-1"}));
  ASSERT_TRUE(store_->begin_task(gone, task("t-1"), 8));
  clock_.advance(20s);
  const Lease lives = lease("s-2", "i-2");
  ASSERT_TRUE(store_->begin_run(lives, {.id = "r-2"}));
  ASSERT_TRUE(store_->begin_task(lives, task("t-2"), 8));
  EXPECT_TRUE(store_->left_behind({})->runs.empty());
  clock_.advance(11s);

  const auto left = *store_->left_behind({});
  ASSERT_EQ(left.runs.size(), 1u);
  ASSERT_EQ(left.tasks.size(), 1u);
  EXPECT_EQ(left.runs[0].id, "r-1");
  EXPECT_EQ(left.runs[0].trace_id, "t-1");
  EXPECT_EQ(left.tasks[0].id, "t-1");
  const auto second = open();
  EXPECT_TRUE(*store_->close_run(left.runs[0], "interrupted"));
  EXPECT_FALSE(*second->close_run(left.runs[0], "interrupted"));
  EXPECT_TRUE(*second->close_task(left.tasks[0]));
  EXPECT_FALSE(*store_->close_task(left.tasks[0]));
  EXPECT_EQ(store_->runs("s-1")->at(0).reason, "interrupted");
  EXPECT_EQ(store_->runs("s-1")->at(0).status, RunStatus::Aborted);
  EXPECT_EQ((*store_->task("writer", "t-1"))->status, TaskStatus::Interrupted);
  EXPECT_EQ(store_->runs("s-2")->at(0).status, RunStatus::Running);
  // The suspended process cannot end its task a second time.
  BackgroundTask late = task("t-1");
  late.status = TaskStatus::Finished;
  EXPECT_EQ(cause_of(store_->end_task(late)), "already_closed");
}

// RT-52, RT-83: a run that has ended leaves its tasks running while its process lives.
TEST_F(Runs, TasksOfAnInstanceThatHoldsAnotherSessionAreUntouched) {
  const Lease first = lease("s-1", "i-1");
  ASSERT_TRUE(store_->begin_task(first, task("t-1"), 8));
  clock_.advance(20s);
  lease("s-2", "i-1");
  clock_.advance(11s);
  EXPECT_TRUE(store_->left_behind({})->tasks.empty());
  EXPECT_EQ(store_->left_behind([](const std::string& i) { return i == "i-1"; })->tasks.size(), 1u);
  clock_.advance(20s);
  EXPECT_EQ(store_->left_behind({})->tasks.size(), 1u);
}

TEST_F(Runs, SessionsAreListedNewestFirst) {
  for (const char* id : {"s-1", "s-2", "s-3"}) {
    lease(id);
    clock_.advance(1s);
  }
  ASSERT_TRUE(store_->append(*store_->take_lease("s-4", "writer", "i", 30s, {}),
                             std::vector{text_item("x"), text_item("y")}));
  const std::vector<Session> two = *store_->sessions(2);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].id, "s-4");
  EXPECT_EQ(two[0].items, 2u);
  EXPECT_EQ(two[0].revision, 2u);
  EXPECT_EQ(two[1].id, "s-3");
  EXPECT_EQ(*store_->session("none"), std::nullopt);
}

class Tasks : public StoreOnDisk {};

// RT-48, RT-49, RT-55
TEST_F(Tasks, AnEndedTaskKeepsItsOutputForItsOwnAgent) {
  const Lease held = lease();
  ASSERT_TRUE(store_->begin_task(held, task("t-1"), 8));
  EXPECT_EQ(test::running_tasks(*store_, "writer"), 1u);
  EXPECT_EQ(test::running_tasks(*store_, "reader"), 0u);
  BackgroundTask ended = task("t-1");
  ended.status = TaskStatus::Failed;
  ended.signal = 9;
  ended.output = std::string("a\0\xff", 3);
  ended.output_dropped = 7;
  ASSERT_TRUE(store_->end_task(ended));
  EXPECT_EQ(test::running_tasks(*store_, "writer"), 0u);
  const std::optional<BackgroundTask> read = *store_->task("writer", "t-1");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->output, ended.output);
  EXPECT_EQ(read->output_dropped, 7u);
  EXPECT_EQ(read->signal, 9);
  EXPECT_EQ(read->exit_code, std::nullopt);
  EXPECT_EQ(read->session_id, "s-1");
  EXPECT_EQ(read->instance_id, "i-1");
  EXPECT_EQ(*store_->task("reader", "t-1"), std::nullopt);
}

// RT-48: two processes that count at the same moment would both find room.
TEST_F(Tasks, TwoProcessesNeverExceedTheLimitOfAnAgentTogether) {
  constexpr std::uint64_t kMost = 5;
  constexpr int kEach = 20;
  const std::array leases{lease("s-1", "i-1"), lease("s-2", "i-2")};
  std::array<std::atomic<int>, 2> refused{};
  {
    std::vector<std::jthread> processes;
    for (std::size_t i = 0; i < leases.size(); ++i) {
      processes.emplace_back([&, i] {
        const auto store = open();
        for (int n = 0; n < kEach; ++n) {
          BackgroundTask one = task(std::to_string(i) + "-" + std::to_string(n));
          one.session_id = leases[i].session_id;
          const Result<void> begun = store->begin_task(leases[i], one, kMost);
          if (begun) continue;
          EXPECT_EQ(begun.error().cause, kTooManyTasks);
          ++refused[i];
        }
      });
    }
  }
  EXPECT_EQ(test::running_tasks(*store_, "writer"), kMost);
  EXPECT_EQ(refused[0] + refused[1], 2 * kEach - static_cast<int>(kMost));
}

TEST_F(Tasks, ThoseOfASessionAreListedWithoutTheirOutput) {
  const Lease held = lease();
  for (const char* id : {"t-1", "t-2"}) ASSERT_TRUE(store_->begin_task(held, task(id), 8));
  const Lease other = lease("s-2");
  ASSERT_TRUE(store_->begin_task(other, task("t-3"), 8));
  BackgroundTask ended = task("t-1");
  ended.status = TaskStatus::Failed;
  ended.exit_code = 3;
  ended.output = "secret";
  ASSERT_TRUE(store_->end_task(ended));
  const Result<std::vector<BackgroundTask>> tasks = store_->tasks("s-1");
  ASSERT_TRUE(tasks);
  ASSERT_EQ(tasks->size(), 2u);
  EXPECT_EQ(tasks->at(0).id, "t-1");
  EXPECT_EQ(tasks->at(0).status, TaskStatus::Failed);
  EXPECT_EQ(tasks->at(0).exit_code, 3);
  EXPECT_EQ(tasks->at(0).output, "");
  EXPECT_EQ(tasks->at(1).status, TaskStatus::Running);
  EXPECT_TRUE(store_->tasks("none")->empty());
}

// RT-51
TEST_F(Tasks, ANoticeIsCommittedExactlyOnce) {
  const Lease held = lease();
  for (const char* id : {"t-1", "t-2"}) ASSERT_TRUE(store_->begin_task(held, task(id), 8));
  EXPECT_TRUE(store_->unnoticed_tasks("s-1")->empty());  // they run
  EXPECT_EQ(
      cause_of(store_->append(held, std::vector{text_item("n")}, std::vector<std::string>{"t-1"})),
      "already_told");
  for (const char* id : {"t-1", "t-2"}) {
    BackgroundTask ended = task(id);
    ended.status = TaskStatus::Finished;
    ended.exit_code = 0;
    ASSERT_TRUE(store_->end_task(ended));
  }
  ASSERT_EQ(store_->unnoticed_tasks("s-1")->size(), 2u);
  EXPECT_EQ(store_->unnoticed_tasks("s-1")->at(0).id, "t-1");
  ASSERT_TRUE(store_->append(held, std::vector{text_item("n")}, std::vector<std::string>{"t-1"}));
  ASSERT_EQ(store_->unnoticed_tasks("s-1")->size(), 1u);
  // A notice that was already delivered fails the whole append, with the other one and the item.
  const std::vector<std::string> both{"t-2", "t-1"};
  EXPECT_EQ(cause_of(store_->append(held, std::vector{text_item("n")}, both)), "already_told");
  EXPECT_EQ(store_->unnoticed_tasks("s-1")->size(), 1u);
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_EQ((*store_->session("s-1"))->revision, 1u);
  // A task of another session does not belong to this one.
  const Lease other = lease("s-2");
  EXPECT_EQ(
      cause_of(store_->append(other, std::vector{text_item("n")}, std::vector<std::string>{"t-2"})),
      "already_told");
}

TEST_F(Tasks, OutputAboveOneMebibyteIsRefused) {
  const Lease held = lease();
  ASSERT_TRUE(store_->begin_task(held, task("t-1"), 8));
  BackgroundTask ended = task("t-1");
  ended.status = TaskStatus::Finished;
  ended.output = std::string(kTaskOutputBytes + 1, 'x');
  EXPECT_EQ(code_of(store_->end_task(ended)), ErrorCode::Exhausted);
  ended.output.pop_back();
  EXPECT_TRUE(store_->end_task(ended));
}

}  // namespace
}  // namespace sallyport::sessions
