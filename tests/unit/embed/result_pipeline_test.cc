#include "sallyport/result_pipeline.h"

#include <atomic>
#include <thread>

#include "engine_setup.h"

namespace sallyport::test {
namespace {

using Guard = EngineBuilder::ResultGuard;

Guard says(Verdict verdict) {
  return [verdict](const Envelope&, const ResultContext&) -> Result<Verdict> { return verdict; };
}

Guard puts(const char* text) {
  return says(Verdict::rewrite(Envelope::of(text).to_json(), "other words"));
}

PipelineOutcome evaluated(std::vector<std::pair<std::string, Guard>> guards) {
  ResultPipeline pipeline;
  for (auto& [name, guard] : guards) EXPECT_TRUE(pipeline.add(name, guard));
  return pipeline.evaluate(Envelope::of("one"));
}

// PI-3
TEST(ResultPipelineTest, WithoutGuardsEverythingPasses) {
  ResultPipeline pipeline;
  EXPECT_EQ(pipeline.size(), 0u);
  const PipelineOutcome outcome = pipeline.evaluate(Envelope::of("one"));
  EXPECT_EQ(outcome.verdict, Verdict::Kind::Allow);
  EXPECT_TRUE(outcome.escalations.empty());
  EXPECT_TRUE(outcome.evidence.empty());
  EXPECT_EQ(outcome.released.to_result().output, "one");
}

// PI-2 PI-6 PI-8 PI-10
TEST(ResultPipelineTest, EachGuardSeesWhatTheOneBeforeItLeft) {
  std::string seen;
  const Guard looks = [&](const Envelope& result, const ResultContext&) -> Result<Verdict> {
    seen = result.value.as_string();
    return Verdict::allow();
  };
  EXPECT_EQ(evaluated({{"a", puts("two")}, {"b", looks}}).verdict, Verdict::Kind::Rewrite);
  EXPECT_EQ(seen, "two");
  EXPECT_EQ(evaluated({{"a", puts("two")}, {"b", puts("one")}}).verdict, Verdict::Kind::Allow);
}

// PI-4 PI-5 PI-15
TEST(ResultPipelineTest, ABlockEndsTheRunAndKeepsWhatCameBefore) {
  bool reached = false;
  Verdict deny = Verdict::deny("not this", "rule-1");
  deny.evidence = "seen";
  const PipelineOutcome outcome =
      evaluated({{"tells", says(Verdict::escalate("look"))},
                 {"blocks", says(deny)},
                 {"last", [&](const Envelope&, const ResultContext&) -> Result<Verdict> {
                    reached = true;
                    return Verdict::allow();
                  }}});
  EXPECT_EQ(outcome.verdict, Verdict::Kind::Deny);
  EXPECT_EQ(outcome.guard, "blocks");
  EXPECT_EQ(outcome.reason, "not this");
  EXPECT_EQ(outcome.escalations, std::vector<std::string>{"look"});
  ASSERT_EQ(outcome.evidence.size(), 1u);
  EXPECT_FALSE(outcome.evidence[0].passed);
  EXPECT_FALSE(reached);
  EXPECT_EQ(outcome.released.to_result().output, "Result withheld by blocks: not this");
}

// PI-11 PI-12
TEST(ResultPipelineTest, EscalationsAreJoinedAndARedactionOutranksThem) {
  const PipelineOutcome told =
      evaluated({{"a", says(Verdict::escalate("x"))}, {"b", says(Verdict::escalate("y"))}});
  EXPECT_EQ(told.verdict, Verdict::Kind::Escalate);
  EXPECT_EQ(told.reason, "x; y");
  const PipelineOutcome both = evaluated({{"a", says(Verdict::escalate("x"))}, {"b", puts("two")}});
  EXPECT_EQ(both.verdict, Verdict::Kind::Rewrite);
  EXPECT_EQ(both.escalations, std::vector<std::string>{"x"});
}

// PI-35 PI-37 PI-39
TEST(ResultPipelineTest, AGuardThatFailsBlocksUnlessItMayFailOpen) {
  const Guard throws = [](const Envelope&, const ResultContext&) -> Result<Verdict> {
    throw std::runtime_error("secret");
  };
  const PipelineOutcome outcome = evaluated({{"broken", throws}, {"b", says(Verdict::allow())}});
  EXPECT_EQ(outcome.reason, "guard broken failed: exception");
  EXPECT_EQ(json::serialize(outcome.json).find("secret"), std::string::npos);
  ResultPipeline open;
  ASSERT_TRUE(open.add("broken", throws, {.fail_open = true}));
  EXPECT_EQ(open.evaluate(Envelope::of("one")).verdict, Verdict::Kind::Allow);
}

// PI-35
TEST(ResultPipelineTest, AGuardThatWaitsTooLongBlocks) {
  std::atomic<bool> done = false;  // outlives the guard, which the pipeline waits for
  ResultPipeline pipeline;
  ASSERT_TRUE(pipeline.add("slow",
                           [&](const Envelope&, const ResultContext&) -> Result<Verdict> {
                             while (!done) std::this_thread::yield();
                             return Verdict::allow();
                           },
                           {.waits = true, .limit = std::chrono::milliseconds(20)}));
  const PipelineOutcome outcome = pipeline.evaluate(Envelope::of("one"));
  done = true;
  EXPECT_EQ(outcome.reason, "guard slow failed: timeout");
}

// PI-14 PI-17
TEST(ResultPipelineTest, ConcurrentResultsEachGetTheirOwnEvidence) {
  ResultPipeline pipeline;
  ASSERT_TRUE(pipeline.add("echo", [](const Envelope& e, const ResultContext&) -> Result<Verdict> {
    Verdict verdict;
    verdict.evidence = e.value;
    return verdict;
  }));
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) {
        const std::string mine = std::to_string(t * 1000 + i);
        const PipelineOutcome outcome = pipeline.evaluate(Envelope::of(mine.c_str()));
        if (outcome.evidence.size() != 1 || outcome.evidence[0].details != mine) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// PI-18 PI-20
TEST(ResultPipelineTest, AGuardSeesTheContextItIsGiven) {
  ResultPipeline pipeline;
  ASSERT_TRUE(
      pipeline.add("needs-call", [](const Envelope&, const ResultContext& c) -> Result<Verdict> {
        return c.call ? Verdict::allow() : Verdict::deny("needs `call` of " + c.tool);
      }));
  EXPECT_EQ(pipeline.evaluate(Envelope::of("x"), {.tool = "query"}).reason,
            "needs `call` of query");
}

TEST(ResultPipelineTest, NamesAreTakenOnceAndFunctionsAreNeeded) {
  ResultPipeline pipeline;
  EXPECT_TRUE(pipeline.add("a", says(Verdict::allow())));
  EXPECT_EQ(pipeline.add("a", says(Verdict::allow())).error().where, "name");
  EXPECT_EQ(pipeline.add("", says(Verdict::allow())).error().where, "name");
  EXPECT_EQ(pipeline.add("b", Guard()).error().where, "judge");
  EXPECT_EQ(pipeline.size(), 1u);
}

}  // namespace
}  // namespace sallyport::test
