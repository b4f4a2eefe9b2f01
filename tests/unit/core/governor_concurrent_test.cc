// State of a Governor that several threads share: separate calls, one row, one approval request.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <future>
#include <thread>

#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FakeUpstream;
using test::FunctionGuard;
using test::Governed;
using test::run_now;
using test::text_at;

using Simple = FakeUpstream::Simple;
using Outcomes = std::vector<std::string>;

std::string said(const Result<Answer>& answer) {
  if (!answer) return "error: " + answer.error().message;
  return std::string(to_string(answer->outcome.kind)) + ": " +
         (answer->outcome.result ? answer->outcome.result->output : answer->outcome.text);
}

// AU-16
TEST(GovernorConcurrentTest, EvidenceBelongsToItsOwnCallAlsoWhenManyRunAtOnce) {
  Governed governed;
  governed.plan.guard(std::make_shared<FunctionGuard>("echo", [](const Call& call) {
    Verdict verdict = Verdict::allow();
    verdict.evidence = call.input;
    std::this_thread::yield();
    return verdict;
  }));
  ASSERT_TRUE(governed.build());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto upstream = std::make_shared<test::FakeUpstream>();
      for (int n = 0; n < 50; ++n) {
        Call call{.agent_id = "agent:a", .tool = "t", .input = {{"n", t * 100 + n}}};
        EXPECT_TRUE(test::run_now(governed.governor().run(std::move(call), upstream)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<Draft> records = governed.recorder.records();
  ASSERT_EQ(records.size(), 200u);
  for (const Draft& record : records) {
    EXPECT_EQ(text_at(record, "/guards/0/evidence"), text_at(record, "/requested_input"));
  }
}

// AU-49
TEST(GovernorConcurrentTest, OfTwoEqualCallsFromTwoThreadsOneRuns) {
  for (const Tier tier : {Tier::Observe, Tier::Confirm}) {
    Governed governed;
    governed.plan.tool("", "read_file", {tier, "none"});
    std::promise<void> began;
    std::promise<void> may_end;
    const auto end = may_end.get_future().share();
    governed.upstream =
        std::make_shared<FakeUpstream>(Simple([&](Call, std::stop_token) -> Task<Envelope> {
          began.set_value();
          end.wait();
          co_return Envelope::of("hello");
        }));
    ASSERT_TRUE(governed.build());
    Result<Answer> first;
    std::thread runner([&] { first = governed.call(Governed::read_file()); });
    began.get_future().wait();
    EXPECT_EQ(said(governed.call(Governed::read_file())),
              "blocked: in flight: call `toolu_1` is running");
    may_end.set_value();
    runner.join();
    EXPECT_EQ(said(first), "completed: hello");
    EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: hello");
    EXPECT_EQ(governed.upstream->calls.size(), 1u);
  }
}

class ApprovalConcurrentTest : public testing::Test {
 protected:
  ApprovalConcurrentTest() { governed.plan.autonomy(Autonomy::ActWithApproval); }

  // Returns the only approval request, as soon as there is one.
  std::string wait_for_question() {
    while (true) {
      const auto facts = *governed.recorder.facts("approval");
      if (!facts.empty()) return facts[0].key;
      std::this_thread::yield();
    }
  }

  std::string state_of(const std::string& id) {
    return std::string(to_string((*governed.governor().approvals().state(id))->status));
  }

  Result<void> answer(const std::string& id, Reply reply) {
    return run_now(governed.governor().approvals().answer(id, std::move(reply)));
  }

  Outcomes outcomes() const {
    Outcomes names;
    for (const Draft& draft : governed.recorder.records()) names.push_back(draft.outcome);
    return names;
  }

  Governed governed;
};

// AU-24 AU-34
TEST_F(ApprovalConcurrentTest, AnAnswerFromAnotherThreadLetsTheHeldCallGoOn) {
  ASSERT_TRUE(governed.build());
  for (const bool yes : {true, false}) {
    Call call = Governed::read_file();
    call.tool_call_id = yes ? "yes" : "no";
    std::thread person([&, before = governed.recorder.facts("approval")->size()] {
      while (governed.recorder.facts("approval")->size() == before) std::this_thread::yield();
      for (const Fact& fact : *governed.recorder.facts("approval")) {
        if (state_of(fact.key) != "pending") continue;
        EXPECT_TRUE(answer(fact.key,
                           yes ? Reply::approve("user:ada") : Reply::deny("user:ada", "too dear")));
      }
    });
    const Result<Answer> answered = governed.call(call);
    person.join();
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->result.success, yes);
    EXPECT_EQ(governed.recorder.records().back().outcome, yes ? "completed" : "blocked");
    if (!yes) EXPECT_EQ(answered->result.output, "Blocked: too dear");
  }
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-23 AU-36
TEST_F(ApprovalConcurrentTest, ACallerWhoGoesAwayTakesTheQuestionBack) {
  ASSERT_TRUE(governed.build());
  std::stop_source stop;
  std::thread caller([&] {
    wait_for_question();
    stop.request_stop();
  });
  const Result<Answer> answered = governed.call(Governed::read_file(), stop.get_token());
  caller.join();
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->outcome, Outcome::blocked("cancelled"));
  EXPECT_EQ(state_of(answered->approval_id), "cancelled");
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "blocked"}));
  EXPECT_EQ(answer(answered->approval_id, Reply::approve("user:ada")).error().cause, "cancelled");
}

TEST_F(ApprovalConcurrentTest, OfManyAnswersAtOnceExactlyOneCounts) {
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  std::atomic<int> counted = 0;
  std::vector<std::thread> people;
  for (int i = 0; i < 8; ++i) {
    people.emplace_back([&, i] {
      const std::string who = "user:" + std::to_string(i);
      if (answer(asked->approval_id, i % 2 == 0 ? Reply::approve(who) : Reply::deny(who))) {
        ++counted;
      }
    });
  }
  for (std::thread& person : people) person.join();
  EXPECT_EQ(counted, 1);
  // The request, the one answer, and the decision.
  EXPECT_EQ(governed.recorder.of(Kind::Approval).size(), 3u);
}

}  // namespace
}  // namespace sallyport::core
