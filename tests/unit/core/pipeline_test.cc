#include "core/plan/pipeline.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::core {
namespace {

std::vector<std::string> messages(const Release& release) {
  std::vector<std::string> texts;
  for (const Escalation& escalation : release.escalations) texts.push_back(escalation.message);
  return texts;
}

using test::FunctionResultGuard;

Verdict redact(json::value value) {
  return Verdict::rewrite(Envelope::of(std::move(value)).to_json());
}

std::shared_ptr<FunctionResultGuard> hook(std::string name,
                                          std::function<Result<Verdict>()> answer) {
  return std::make_shared<FunctionResultGuard>(
      std::move(name),
      [answer = std::move(answer)](const Envelope&, const ResultContext&) { return answer(); });
}

class PipelineTest : public testing::Test {
 protected:
  using Hooks = std::vector<std::shared_ptr<FunctionResultGuard>>;  // shared with plans

  Release run(const Hooks& hooks, Envelope original = Envelope::of({{"a", 1}})) {
    const auto plan = plan_of(hooks);
    FailOpen fail_open(log_);
    return test::run_now(run_pipeline(*plan, std::move(original), {}, clock_, fail_open));
  }
  ShortRelease run_short(const Hooks& hooks) {
    const auto plan = plan_of(hooks);
    FailOpen fail_open(log_);
    return test::run_now(
        run_pipeline_short(*plan, Envelope::of({{"a", 1}}), {}, clock_, fail_open));
  }
  static std::shared_ptr<const Plan> plan_of(const Hooks& hooks) {
    PlanBuilder builder;
    for (const auto& guard : hooks) builder.result_guard(guard);
    return *builder.build();
  }

  SystemClock clock_;
  FailOpenLog log_{"instance"};
};

// PI-3
TEST_F(PipelineTest, WithoutHooksEverythingIsAllowedAndNothingIsSaid) {
  const Release release = run({});
  EXPECT_EQ(release.verdict, Verdict::Kind::Allow);
  EXPECT_TRUE(release.escalations.empty());
  EXPECT_TRUE(release.evidence.empty());
}

// PI-8 PI-10
TEST_F(PipelineTest, ARedactionToAnEqualValueAndOneThatIsUndoneBothEndAsAllow) {
  EXPECT_EQ(run({hook("h", [] { return redact({{"a", 1.0}}); })}).verdict, Verdict::Kind::Allow);
  EXPECT_EQ(run({hook("h", [] { return redact({{"a", 2}}); }),
                 hook("i", [] { return redact({{"a", 1}}); })})
                .verdict,
            Verdict::Kind::Allow);
}

// PI-6 PI-7 PI-12
TEST_F(PipelineTest, RedactOutranksEscalateAndTheMessagesTravelWithIt) {
  const Release release = run({hook("x", [] { return Verdict::escalate("x"); }),
                               hook("r", [] { return redact({{"a", 2}}); }),
                               hook("y", [] { return Verdict::escalate("y"); })});
  EXPECT_EQ(release.verdict, Verdict::Kind::Rewrite);
  EXPECT_EQ(canonical_json(release.released.value), R"({"a":2})");
  EXPECT_EQ(messages(release), (std::vector<std::string>{"x", "y"}));
}

// PI-13
TEST_F(PipelineTest, TheShortFormHasTheSameVerdictAndTheSameEscalations) {
  const auto escalate = hook("x", [] { return Verdict::escalate("x"); });
  const std::vector<Hooks> plans{
      {},
      {escalate},
      {escalate, hook("r", [] { return redact({{"a", 2}}); })},
      {escalate, hook("b", [] { return Verdict::deny("no"); })},
      {escalate, hook("t", []() -> Result<Verdict> { throw std::runtime_error("inside"); })}};
  for (const Hooks& hooks : plans) {
    const Release whole = run(hooks);
    const ShortRelease brief = run_short(hooks);
    EXPECT_EQ(brief.verdict, whole.verdict);
    EXPECT_EQ(brief.guard, whole.guard);
    EXPECT_EQ(brief.reason, whole.reason);
    EXPECT_EQ(canonical_json(brief.released.to_json()), canonical_json(whole.released.to_json()));
    ASSERT_EQ(brief.escalations.size(), whole.escalations.size());
    for (std::size_t i = 0; i < brief.escalations.size(); ++i) {
      EXPECT_EQ(brief.escalations[i].guard, whole.escalations[i].guard);
      EXPECT_EQ(brief.escalations[i].message, whole.escalations[i].message);
    }
  }
}

// PI-11
TEST_F(PipelineTest, EscalationsAloneAreJoined) {
  const Release release = run({hook("x", [] { return Verdict::escalate("x"); }),
                               hook("a", [] { return Verdict::allow(); }),
                               hook("y", [] { return Verdict::escalate("y"); })});
  EXPECT_EQ(release.verdict, Verdict::Kind::Escalate);
  EXPECT_EQ(release.reason, "x; y");
}

// PI-4 PI-34
TEST_F(PipelineTest, ADeliberateBlockEndsTheRun) {
  bool called = false;
  const Release release = run({hook("x", [] { return Verdict::escalate("x"); }),
                               hook("b", [] { return Verdict::deny("no"); }), hook("r", [&] {
                                 called = true;
                                 return redact(json::object());
                               })});
  EXPECT_EQ(release.verdict, Verdict::Kind::Deny);
  EXPECT_EQ(release.reason, "no");
  EXPECT_EQ(messages(release), (std::vector<std::string>{"x"}));
  EXPECT_FALSE(called);
  EXPECT_EQ(release.guards[2].state, Release::GuardState::State::NotReached);
  EXPECT_EQ(release.released.message, "Result withheld by b: no");
}

// PI-37 PI-38 (partly)
TEST_F(PipelineTest, AFailureBlocksAndTheHooksAfterItStillRun) {
  const Release release =
      run({hook("x", [] { return Verdict::escalate("x"); }),
           hook("h", []() -> Result<Verdict> { throw std::runtime_error("secret"); }),
           hook("y", [] { return Verdict::escalate("y"); })});
  EXPECT_EQ(release.verdict, Verdict::Kind::Deny);
  EXPECT_EQ(release.reason, "guard h failed: exception");
  EXPECT_EQ(release.guard, "h");
  EXPECT_EQ(messages(release), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(canonical_json(release.to_json()).find("secret"), std::string::npos);
}

// PI-24 PI-36 PI-86
TEST_F(PipelineTest, ARedactionThatIsNoEnvelopeOfTheSameKindReleasesNothing) {
  for (const json::value& bad :
       {json::value("text"), Envelope::error("e").to_json(), json::value()}) {
    const Release release = run({hook("h", [&] { return Verdict::rewrite(bad); })});
    EXPECT_EQ(release.reason, "guard h failed: malformed redaction");
    EXPECT_EQ(release.failure->failure_class, "malformed");
    EXPECT_EQ(release.released.kind, Envelope::Kind::Error);
  }
}

// PI-24
TEST_F(PipelineTest, AnIncompleteStreamDoesNotBecomeComplete) {
  const Envelope cut{
      .kind = Envelope::Kind::Stream, .chunks = {"a"}, .complete = false, .reason = "limit"};
  const Envelope whole{.kind = Envelope::Kind::Stream, .chunks = {"a"}};
  const Release release = run({hook("h", [&] { return Verdict::rewrite(whole.to_json()); })}, cut);
  EXPECT_EQ(release.failure->failure_class, "malformed");
}

// PI-22 PI-23
TEST_F(PipelineTest, EnvelopesOfEveryKindRoundTrip) {
  for (const char* const text :
       {R"({"kind":"value","value":{"a":[1,"x",null]}})",
        R"({"kind":"stream","stream":{"chunks":["a",{"b":1}],"complete":true}})",
        R"({"kind":"stream","stream":{"chunks":[],"complete":false,"reason":"cut"}})",
        R"({"error":{"code":-32000,"data":{"x":1},"message":"m"},"kind":"error"})"}) {
    const Result<Envelope> envelope = Envelope::from_json(parse_json(text)->value);
    ASSERT_TRUE(envelope) << text;
    EXPECT_EQ(canonical_json(envelope->to_json()), text);
  }
  EXPECT_FALSE(
      Envelope::from_json(parse_json(R"({"kind":"stream","stream":{"chunks":[]}})")->value));
  EXPECT_FALSE(Envelope::from_json(parse_json(R"({"kind":"other","other":{}})")->value));
}

// PI-89
TEST_F(PipelineTest, TwoHooksOfOneNameMakeNoPlan) {
  PlanBuilder builder;
  builder.result_guard(hook("h", [] { return Verdict::allow(); })).result_guard(hook("h", [] {
    return Verdict::allow();
  }));
  EXPECT_FALSE(builder.build());
}

}  // namespace
}  // namespace sallyport::core
