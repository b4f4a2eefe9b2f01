// One engine, many threads: calls, guards, listeners and readers at the same time.
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "engine_setup.h"

namespace sallyport::test {
namespace {

constexpr int kThreads = 8;
constexpr int kCalls = 100;

// Threads take numbers below `kCalls` until there are none left.
void share_out(const std::function<void(int)>& work) {
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = next++; n < kCalls; n = next++) work(n);
    });
  }
}

std::int64_t number_in(const json::value& input) {
  return input.at("n").as_int64();
}

// Allows even numbers, and records that in its evidence.
Result<Verdict> only_even(const Call& call, const GuardView&) {
  const std::int64_t n = number_in(call.input);
  Verdict verdict = n % 2 == 0 ? Verdict::allow() : Verdict::deny("odd", "parity");
  verdict.evidence = {{"n", n}};
  return verdict;
}

// AU-16 AU-32 (partly) PI-14 (partly)
TEST(EngineConcurrentTest, AHundredCallsFromEightThreadsEachGetTheirOwnAnswerAndEvidence) {
  for (const bool waits : {false, true}) {
    const auto engine =
        opened(EngineBuilder("")
                   .tool(tool_of("echo",
                                 [](const Invocation& i) -> Result<json::value> {
                                   i.progress(i.call().input);
                                   return i.call().input;
                                 }))
                   .guard("even", only_even, {.waits = waits, .limit = std::chrono::seconds(60)})
                   .output_sanitizer());
    std::array<Answer, kCalls> answers;
    std::atomic<int> misled = 0;
    share_out([&](int n) {
      const auto heard = [&](const json::value& message) {
        if (number_in(message) != n) ++misled;
      };
      Result<Answer> answer =
          engine->call(call_of("echo", std::to_string(n), {{"n", n}}), {.on_progress = heard});
      if (answer) answers[n] = std::move(*answer);
      (void)engine->records({.limit = 5});
    });
    EXPECT_EQ(misled, 0);
    const auto records = engine->records();
    ASSERT_EQ(records->size(), std::size_t{kCalls});
    for (const AuditRecord& record : *records) {
      const int n = std::stoi(record.tool_call_id);
      EXPECT_EQ(record.call_id, answers[n].call_id);
      EXPECT_EQ(record.sequence, answers[n].sequence);
      EXPECT_EQ(record.guards.at(0).evidence, json::value({{"n", n}}));
      EXPECT_EQ(answers[n].outcome.kind,
                n % 2 == 0 ? Outcome::Kind::Completed : Outcome::Kind::Blocked);
      if (n % 2 == 0) EXPECT_EQ(answers[n].released.value, json::value({{"n", n}}));
    }
  }
}

// AU-49 (partly)
TEST(EngineConcurrentTest, OfEqualCallsAtTheSameTimeOneRuns) {
  const CountedTool act("act", kActs);
  const auto engine = opened(EngineBuilder("").tool(act.tool()).autonomy(Autonomy::ActAuto));
  std::mutex mutex;
  std::map<Outcome::Kind, int> ended;
  share_out([&](int n) {
    const Result<Answer> answer = engine->call(call_of("act", std::to_string(n / 10)));
    ASSERT_TRUE(answer);
    if (answer->outcome.kind == Outcome::Kind::Blocked) {
      EXPECT_TRUE(answer->outcome.text.starts_with("in flight:")) << answer->outcome.text;
    }
    const std::lock_guard lock(mutex);
    ++ended[answer->outcome.kind];
  });
  EXPECT_EQ(act.runs(), kCalls / 10);
  EXPECT_EQ(ended[Outcome::Kind::Completed], kCalls / 10);
}

// EV-63 (partly) AU-88 (partly)
TEST(EngineConcurrentTest, AHookHearsTheEventsOfOneCallInOrderAndASinkGetsEveryRecordOnce) {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> heard;
  std::multiset<std::string> taken;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(CountedTool("look", kLooks).tool())
                 .hook("ear",
                       [&](const Event& event, const Subject& subject) -> Result<void> {
                         const std::lock_guard lock(mutex);
                         heard[subject.call_id].emplace_back(event_type(event));
                         return {};
                       })
                 .sink("copy", [&](const AuditRecord& record) -> Result<void> {
                   const std::lock_guard lock(mutex);
                   taken.insert(record.call_id);
                   return {};
                 }));
  std::set<std::string> calls;
  share_out([&](int) {
    const Result<Answer> answer = engine->call(call_of("look"));
    const std::lock_guard lock(mutex);
    calls.insert(answer->call_id);
  });
  const std::vector<std::string> story{"tool_authorization_started", "tool_authorization_finished",
                                       "tool_execution_started", "tool_execution_finished"};
  EXPECT_EQ(calls.size(), std::size_t{kCalls});
  for (const std::string& call_id : calls) {
    EXPECT_EQ(heard[call_id], story);
    EXPECT_EQ(taken.count(call_id), 1u);
  }
}

// AU-75 (partly)
TEST(EngineConcurrentTest, OfManyAnswersToOneQuestionOneCounts) {
  const auto engine = opened(EngineBuilder("").tool(CountedTool("act", kActs).tool()));
  const Result<Answer> asked = engine->call(call_of("act"), {.hold = false});
  std::atomic<int> counted = 0;
  share_out([&](int n) {
    const Reply reply = n % 2 == 0 ? Reply::approve("user:ada") : Reply::deny("user:eve");
    if (engine->answer(asked->approval_id, reply)) ++counted;
  });
  EXPECT_EQ(counted, 1);
}

TEST(EngineConcurrentTest, CallsThatAreCalledOffWhileTheyRunEndAndLeaveTheirRecords) {
  auto engine = opened(
      EngineBuilder("").tool(tool_of("waits", [](const Invocation& i) -> Result<json::value> {
        while (!i.stop_requested() && i.chunk("piece")) std::this_thread::yield();
        return json::value("stopped");
      })));
  share_out([&](int n) {
    std::stop_source stop;
    const std::jthread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(n % 5));
      stop.request_stop();
    });
    EXPECT_TRUE(engine->call(call_of("waits"), {.cancel = stop.get_token()}));
  });
  EXPECT_EQ(engine->records({.terminal = true})->size(), std::size_t{kCalls});
}

}  // namespace
}  // namespace sallyport::test
