#include "mcp/call/call_desk.h"

#include <gtest/gtest.h>

namespace sallyport::mcp {
namespace {

using State = HeldCall::State;

constexpr State kStates[] = {State::Queued, State::Running, State::Parked,
                             State::Away,   State::Task,    State::Left};

class CallDeskTest : public testing::Test {
 protected:
  CallDesk::Held add(const std::string& id) {
    const auto call = std::make_shared<HeldCall>();
    desk_.add(call, id);
    return call;
  }
  // Returns a call that reached this state on a permitted path.
  CallDesk::Held call_in(State state, const std::string& key) {
    const CallDesk::Held call = add(key);
    if (state == State::Queued) return call;
    EXPECT_TRUE(desk_.move(call, State::Running, key));
    if (state != State::Running) {
      EXPECT_TRUE(desk_.move(call, state, key));
    }
    return call;
  }

  Limits limits_{.calls = 2, .waiting_calls = 3};
  CallDesk desk_{limits_};
};

TEST_F(CallDeskTest, EveryChangeOfStateIsOnTheTableOrLeavesTheCallAsItWas) {
  const std::map<State, std::set<State>> table{
      {State::Queued, {State::Running, State::Left}},
      {State::Running, {State::Parked, State::Away, State::Task, State::Left}},
      {State::Parked, {State::Running, State::Left}},
      {State::Away, {State::Running, State::Left}},
      {State::Task, {State::Left}},
      {State::Left, {}}};
  for (const State from : kStates) {
    for (const State to : kStates) {
      const CallDesk::Held call = call_in(from, "k");
      const bool allowed = table.at(from).contains(to);
      EXPECT_EQ(desk_.move(call, to, "n"), allowed) << to_string(from) << " " << to_string(to);
      EXPECT_EQ(call->state, allowed ? to : from);
      const bool there = call->state != State::Left;
      EXPECT_EQ(desk_.find(to, "n") == call, allowed && there);
      EXPECT_EQ(desk_.find(from, "k") == call, !allowed && there);
      desk_.clear();
    }
  }
}

TEST_F(CallDeskTest, AClientWaitsForACallThatIsQueuedOrRunsAndForNoOther) {
  for (const State state : kStates) {
    const CallDesk::Held call = call_in(state, "7");
    const bool waits = state == State::Queued || state == State::Running;
    EXPECT_EQ(call->client_id(), waits ? "7" : "") << to_string(state);
    EXPECT_EQ(desk_.of_client("7") == call, waits) << to_string(state);
    desk_.clear();
  }
}

TEST_F(CallDeskTest, CallsRunInTheirOrderAndNoMoreThanHavePlaces) {
  const CallDesk::Held first = add("9");
  const CallDesk::Held second = add("1");
  const CallDesk::Held third = add("5");
  EXPECT_TRUE(desk_.queue_is_full());
  EXPECT_EQ(desk_.start_next(), first);
  EXPECT_EQ(desk_.start_next(), second);
  EXPECT_EQ(desk_.start_next(), nullptr);
  EXPECT_FALSE(desk_.queue_is_full());
  EXPECT_EQ(third->state, State::Queued);
  EXPECT_TRUE(desk_.leave_place(*first));
  EXPECT_FALSE(desk_.leave_place(*first));
  EXPECT_EQ(desk_.start_next(), third);
  EXPECT_EQ(desk_.start_next(), nullptr);
}

TEST_F(CallDeskTest, ACallThatWaitedForAPersonGetsItsPlaceBackAlsoWhereNoneIsFree) {
  const CallDesk::Held waits = add("1");
  (void)desk_.start_next();
  EXPECT_TRUE(desk_.leave_place(*waits));
  add("2");
  add("3");
  add("4");
  EXPECT_TRUE(desk_.start_next() && desk_.start_next());
  desk_.take_place(*waits);
  desk_.take_place(*waits);  // it has one
  EXPECT_TRUE(desk_.leave_place(*waits));
  EXPECT_EQ(desk_.start_next(), nullptr);
}

TEST_F(CallDeskTest, TheNewestCallIsTheOneThatCameLastNotTheOneWithTheGreatestId) {
  add("9");
  const CallDesk::Held last = add("1");
  EXPECT_EQ(desk_.newest(), last);
  EXPECT_TRUE(desk_.move(last, State::Left));
  EXPECT_EQ(desk_.newest()->client_id(), "9");
}

TEST_F(CallDeskTest, IdenticalCallsWhoseClientIsAwayAreToldApartByTheirApproval) {
  const CallDesk::Held one = call_in(State::Away, "same");
  const CallDesk::Held other = call_in(State::Away, "same");
  one->approval_id = "a";
  other->approval_id = "b";
  EXPECT_EQ(desk_.find_away("same", "b"), other);
  EXPECT_EQ(desk_.find_away("same", "c"), nullptr);
  EXPECT_EQ(desk_.count(State::Away, State::Away), 2u);
  EXPECT_TRUE(desk_.move(one, State::Running, "8"));
  EXPECT_EQ(desk_.find(State::Away, "same"), other);
}

TEST_F(CallDeskTest, ACallThatEndsStaysOnlyWhereItsClientMayStillCome) {
  for (const State state : kStates) {
    const CallDesk::Held call = call_in(state, "k");
    desk_.note_token("t", call);
    desk_.finish(call);
    const bool kept = state == State::Parked || state == State::Away || state == State::Task;
    EXPECT_EQ(call->state, kept ? state : State::Left);
    EXPECT_EQ(desk_.of_token("t"), nullptr);
    desk_.clear();
  }
}

TEST_F(CallDeskTest, RefusalsAndTasksAreForgottenWhenTheirTimeIsOver) {
  const SteadyTime now{std::chrono::hours(1)};
  const CallDesk::Held running = call_in(State::Away, "runs");
  const CallDesk::Held fresh = call_in(State::Away, "fresh");
  const CallDesk::Held old = call_in(State::Away, "old");
  fresh->ended_at = now - limits_.parked;
  old->ended_at = now - limits_.parked - std::chrono::milliseconds(1);
  const CallDesk::Held task = call_in(State::Task, "task");
  task->ended_at = now - std::chrono::hours(1);
  task->task_until = now;
  desk_.forget_old(State::Away, now);
  desk_.forget_old(State::Task, now);
  EXPECT_EQ(running->state, State::Away);
  EXPECT_EQ(fresh->state, State::Away);
  EXPECT_EQ(old->state, State::Left);
  EXPECT_EQ(task->state, State::Task);
  desk_.forget_old(State::Task, now + std::chrono::milliseconds(1));
  EXPECT_EQ(task->state, State::Left);
}

TEST_F(CallDeskTest, ACallIsHeldWhileItsClientMayComeBackAndItHasNotEnded) {
  for (const State state : kStates) {
    const CallDesk::Held call = call_in(state, "k");
    EXPECT_EQ(desk_.holds_calls(), state != State::Left) << to_string(state);
    EXPECT_EQ(desk_.busy(), state != State::Left && state != State::Parked) << to_string(state);
    call->ended_at = SteadyTime{};
    const bool kept = state == State::Queued || state == State::Running || state == State::Parked;
    EXPECT_EQ(desk_.holds_calls(), kept) << to_string(state);
    desk_.clear();
  }
  const CallDesk::Held placed = add("p");
  (void)desk_.start_next();
  EXPECT_TRUE(desk_.move(placed, State::Left));
  EXPECT_TRUE(desk_.busy());  // it runs, and no client waits for it
}

TEST_F(CallDeskTest, TheEndAsksEveryHeldCallToStop) {
  std::vector<CallDesk::Held> calls;
  for (const State state : kStates) calls.push_back(call_in(state, std::string(to_string(state))));
  desk_.stop_all();
  for (const CallDesk::Held& call : calls) {
    EXPECT_EQ(call->stop.stop_requested(), call->state != State::Left) << to_string(call->state);
  }
  desk_.clear();
  EXPECT_EQ(desk_.count(State::Queued, State::Left), 0u);
  EXPECT_EQ(calls.front()->state, State::Left);
}

TEST_F(CallDeskTest, ACallUnderAGrantIsHeldUntilItHasEnded) {
  add("1");
  EXPECT_FALSE(desk_.holds_granted());
  for (const State state : kStates) {
    const CallDesk::Held call = call_in(state, "2");
    call->call.grants = {"{}"};
    EXPECT_EQ(desk_.holds_granted(), state != State::Left) << to_string(state);
    call->ended_at.emplace();
    EXPECT_FALSE(desk_.holds_granted()) << to_string(state);
    desk_.clear();
  }
}

}  // namespace
}  // namespace sallyport::mcp
