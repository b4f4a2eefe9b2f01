// The fold of the second door: worked examples, evidence, failures and limits.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/plan/pipeline.h"
#include "support/governed.h"
#include "support/pause.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionResultGuard;
using Hooks = std::vector<std::shared_ptr<FunctionResultGuard>>;
using Texts = std::vector<std::string>;

Verdict redact(json::value value) {
  return Verdict::rewrite(Envelope::of(std::move(value)).to_json());
}

Verdict with_evidence(Verdict verdict, std::string_view details) {
  verdict.evidence = json::value(details);
  return verdict;
}

Envelope stream(std::vector<json::value> chunks) {
  return {.kind = Envelope::Kind::Stream, .chunks = std::move(chunks)};
}

class SilentGuard final : public ResultGuard {
 public:
  SilentGuard() {
    traits_.name = "silent";
    traits_.waits = true;
    traits_.limit = std::chrono::milliseconds(20);
  }
  const GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope&, const ResultContext&) const override {
    co_await test::pause(std::chrono::hours(1));
    co_return Verdict::allow();
  }

 private:
  GuardTraits traits_;
};

class PipelineFoldTest : public testing::Test {
 protected:
  std::shared_ptr<FunctionResultGuard> hook(std::string name,
                                            std::function<Result<Verdict>()> answer) {
    return std::make_shared<FunctionResultGuard>(
        std::move(name),
        [this, answer = std::move(answer)](const Envelope& envelope, const ResultContext& context) {
          ++called;
          seen.push_back(canonical_json(envelope.to_json()));
          last_context = context;
          return answer();
        });
  }
  std::shared_ptr<FunctionResultGuard> says(std::string name, Verdict verdict) {
    return hook(std::move(name), [verdict] { return verdict; });
  }
  std::shared_ptr<FunctionResultGuard> throws(std::string name) {
    return hook(std::move(name),
                []() -> Result<Verdict> { throw std::runtime_error("secret detail"); });
  }

  Release run(const Hooks& hooks, Envelope original = Envelope::of({{"a", 1}}),
              ResultContext context = {}) {
    called = 0;
    seen.clear();
    for (const auto& guard : hooks) builder.result_guard(guard);
    const auto plan = builder.build();
    EXPECT_TRUE(plan);
    builder = {};
    FailOpen fail_open(log);
    return test::run_now(
        run_pipeline(**plan, std::move(original), std::move(context), *clock, fail_open));
  }

  static Texts messages(const Release& release) {
    Texts texts;
    for (const Escalation& escalation : release.escalations) texts.push_back(escalation.message);
    return texts;
  }
  static Texts states(const Release& release) {
    Texts texts;
    for (const Release::GuardState& state : release.guards) {
      texts.push_back(state.guard + ":" + std::string(state.state_word()) +
                      (state.why.empty() ? "" : ":" + state.why));
    }
    return texts;
  }

  PlanBuilder builder;
  SystemClock system;
  const Clock* clock = &system;
  FailOpenLog log{"instance"};
  int called = 0;
  Texts seen;
  ResultContext last_context;
};

// PI-3 PI-4 PI-6 PI-7 PI-8 PI-10 PI-11 PI-12 PI-37
TEST_F(PipelineFoldTest, TheWorkedExamples) {
  const auto a = says("a", Verdict::allow());
  const auto x = says("x", Verdict::escalate("x"));
  const auto y = says("y", Verdict::escalate("y"));
  struct Example {
    Hooks hooks;
    const char* verdict;
    const char* detail;  // the reason, or the value
    Texts escalations;
    int called;
  };
  const std::vector<Example> examples = {
      {{}, "allow", R"({"a":1})", {}, 0},
      {{says("r", redact({{"a", 1.0}}))}, "allow", R"({"a":1})", {}, 1},
      {{says("r", redact({{"a", 2}})), says("s", redact({{"a", 1}}))},
       "allow",
       R"({"a":1})",
       {},
       2},
      {{x, says("r", redact({{"a", 2}})), y}, "redact", R"({"a":2})", {"x", "y"}, 3},
      {{x, a, y}, "escalate", "x; y", {"x", "y"}, 3},
      {{x, says("b", Verdict::deny("no")), says("r", redact(json::object()))},
       "block",
       "no",
       {"x"},
       2},
      {{x, throws("h"), y}, "block", "guard h failed: exception", {"x", "y"}, 3},
  };
  for (const Example& example : examples) {
    const Release release = run(example.hooks);
    SCOPED_TRACE(example.detail);
    EXPECT_EQ(release.to_json().at("verdict"), example.verdict);
    EXPECT_EQ(release.reason.empty() ? canonical_json(release.released.value) : release.reason,
              example.detail);
    EXPECT_EQ(messages(release), example.escalations);
    EXPECT_EQ(called, example.called);
  }
}

// PI-2
TEST_F(PipelineFoldTest, EachHookSeesTheValueAsTheOnesBeforeLeftIt) {
  run({says("a", redact({{"a", 2}})), says("b", Verdict::allow()), says("c", redact({{"a", 3}})),
       says("d", Verdict::escalate("m"))});
  EXPECT_EQ(seen,
            (Texts{R"({"kind":"value","value":{"a":1}})", R"({"kind":"value","value":{"a":2}})",
                   R"({"kind":"value","value":{"a":2}})", R"({"kind":"value","value":{"a":3}})"}));
}

// PI-4
TEST_F(PipelineFoldTest, AReasonIsKeptByteForByte) {
  const std::string reason = "  Grüße,\t\"x\" \n; ";
  EXPECT_EQ(run({says("b", Verdict::deny(reason))}).reason, reason);
}

// PI-9
TEST_F(PipelineFoldTest, ValuesAreEqualWhenTheirCanonicalBytesAre) {
  const Envelope original = Envelope::of({{"a", 1}, {"b", {1, 2}}, {"c", "\xc3\xa9"}});
  const auto verdict = [&](json::value value) {
    return run({says("r", redact(std::move(value)))}, original).verdict;
  };
  EXPECT_EQ(verdict({{"c", "\xc3\xa9"}, {"b", {1.0, 2}}, {"a", 1}}), Verdict::Kind::Allow);
  EXPECT_EQ(verdict({{"a", 1}, {"b", {2, 1}}, {"c", "\xc3\xa9"}}), Verdict::Kind::Rewrite);
  EXPECT_EQ(verdict({{"a", 1}, {"b", {1, 2}}, {"c", "e\xcc\x81"}}), Verdict::Kind::Rewrite);
}

// PI-10
TEST_F(PipelineFoldTest, ARedactionThatIsUndoneKeepsItsEvidenceAndLeavesAnEscalation) {
  const Release release = run({says("r", with_evidence(redact({{"a", 2}}), "email=1")),
                               says("s", redact({{"a", 1}})), says("x", Verdict::escalate("x"))});
  EXPECT_EQ(release.verdict, Verdict::Kind::Escalate);
  ASSERT_EQ(release.evidence.size(), 1u);
  EXPECT_EQ(release.evidence[0].details, "email=1");
  EXPECT_FALSE(release.to_json().contains("original"));
}

// PI-5 PI-15
TEST_F(PipelineFoldTest, ABlockKeepsTheEvidenceBeforeItAndItsOwn) {
  Verdict block = with_evidence(Verdict::deny("no", "rule-7"), "rows=3");
  const Release release =
      run({says("first", with_evidence(Verdict::allow(), "seen=1")),
           says("x", Verdict::escalate("x")), says("b", block), says("never", Verdict::allow())});
  EXPECT_EQ(messages(release), Texts{"x"});
  EXPECT_EQ(canonical_json(release.to_json().at("evidence")),
            R"([{"details":"seen=1","guard_name":"first","verdict":true},)"
            R"({"details":"rows=3","guard_name":"b","rule":"rule-7","verdict":false}])");
}

// PI-15 PI-38
TEST_F(PipelineFoldTest, EvidenceIsFalseOnlyForHooksThatBlockedOrFailed) {
  const Release release =
      run({says("r", with_evidence(redact({{"a", 2}}), "d")),
           says("x", with_evidence(Verdict::escalate("m"), "d")), throws("h"),
           says("a", with_evidence(Verdict::allow(), "d")), says("b", Verdict::deny("no"))});
  Texts verdicts;
  for (const Release::Evidence& item : release.evidence) {
    verdicts.push_back(item.guard + (item.verdict ? ":true" : ":false"));
  }
  EXPECT_EQ(verdicts, (Texts{"r:true", "x:true", "h:false", "a:true", "b:false"}));
}

// PI-17
TEST_F(PipelineFoldTest, TheSameHooksOverTheSameValueGiveTheSameOutcome) {
  test::TestClock still;
  clock = &still;
  const Hooks hooks = {says("x", with_evidence(Verdict::escalate("x"), "d")),
                       says("r", redact({{"a", 2}})), throws("h")};
  EXPECT_EQ(canonical_json(run(hooks).to_json()), canonical_json(run(hooks).to_json()));
}

// PI-34
TEST_F(PipelineFoldTest, EveryHookOfThePlanIsListedWithWhatBecameOfIt) {
  builder.fail_open("open");
  const Release release = run({says("a", Verdict::allow()), throws("open"), throws("h"),
                               says("b", Verdict::deny("no")), says("c", Verdict::allow())});
  EXPECT_EQ(states(release), (Texts{"a:ran", "open:skipped:fail_open", "h:ran:exception", "b:ran",
                                    "c:not_reached"}));
}

// PI-35
TEST_F(PipelineFoldTest, AHookThatThrowsErrsOrNeverComesBackBlocks) {
  EXPECT_EQ(run({throws("h")}).reason, "guard h failed: exception");
  EXPECT_EQ(
      run({hook("h",
                []() -> Result<Verdict> { return fail(ErrorCode::Internal, "secret detail"); })})
          .reason,
      "guard h failed: exception");
  builder.result_guard(std::make_shared<SilentGuard>());
  const Release late = run({});
  EXPECT_EQ(late.reason, "guard silent failed: timeout");
  EXPECT_EQ(late.failure->failure_class, "timeout");
}

// PI-35
TEST_F(PipelineFoldTest, AHookThatComesBackBehindItsLimitBlocks) {
  test::TestClock slow;
  clock = &slow;
  std::chrono::milliseconds took{1000};
  const auto guard = hook("h", [&] {
    slow.advance(took);
    return Verdict::allow();
  });
  guard->mutable_traits().limit = std::chrono::milliseconds(1000);
  EXPECT_EQ(run({guard}).verdict, Verdict::Kind::Allow);
  took = std::chrono::milliseconds(1001);
  EXPECT_EQ(run({guard}).reason, "guard h failed: timeout");
}

// PI-37
TEST_F(PipelineFoldTest, HooksAfterAFailureSeeTheValueBeforeItAndTheFirstFailureStays) {
  const Release release =
      run({says("r", redact({{"a", 2}})), says("bad", Verdict::rewrite("text")),
           says("x", Verdict::escalate("x")), throws("h"), says("b", Verdict::deny("no"))});
  EXPECT_EQ(seen.at(2), R"({"kind":"value","value":{"a":2}})");
  EXPECT_EQ(release.guard, "bad");
  EXPECT_EQ(release.reason, "guard bad failed: malformed redaction");
  EXPECT_EQ(release.released.message,
            "Result withheld by bad: guard bad failed: malformed redaction");
  EXPECT_EQ(messages(release), Texts{"x"});
  EXPECT_EQ(called, 5);
}

// PI-38 PI-43
TEST_F(PipelineFoldTest, EachClassOfFailureIsRecordedWithTheHookAndWithoutItsText) {
  builder.result_guard(std::make_shared<SilentGuard>());
  const std::pair<Release, const char*> failures[] = {
      {run({}), R"({"class":"timeout","guard":"silent"})"},
      {run({throws("h")}), R"({"class":"exception","guard":"h"})"},
      {run({says("h", Verdict::rewrite(1))}), R"({"class":"malformed","guard":"h"})"}};
  for (const auto& [release, wanted] : failures) {
    const json::object record = release.to_json();
    EXPECT_EQ(canonical_json(record.at("failure")), wanted);
    EXPECT_EQ(record.at("guard"), record.at("failure").at("guard"));
    EXPECT_EQ(record.at("verdict"), "block");
    EXPECT_EQ(canonical_json(record).find("secret detail"), std::string::npos);
  }
}

// PI-39
TEST_F(PipelineFoldTest, AHookThatMayFailOpenIsLeftOutAndTheRestGoesOn) {
  builder.fail_open("h");
  const Release release = run({says("r", redact({{"a", 2}})), throws("h")});
  EXPECT_EQ(release.verdict, Verdict::Kind::Rewrite);
  EXPECT_EQ(canonical_json(release.released.value), R"({"a":2})");
  EXPECT_FALSE(release.failure);
}

// PI-86
TEST_F(PipelineFoldTest, ABlockWithoutAReasonARedactWithoutAValueAndAQuestionHaveFailed) {
  for (const Verdict& verdict :
       {Verdict::deny(""), Verdict{.kind = Verdict::Kind::Rewrite}, Verdict::ask("may I?")}) {
    const Release release = run({says("h", verdict), says("later", Verdict::allow())});
    ASSERT_TRUE(release.failure);
    EXPECT_EQ(release.failure->failure_class, "malformed");
    EXPECT_EQ(release.verdict, Verdict::Kind::Deny);
    EXPECT_EQ(release.released.kind, Envelope::Kind::Error);
    EXPECT_EQ(called, 2);
  }
}

// PI-36
TEST_F(PipelineFoldTest, EveryMalformedRedactionReleasesNeitherItselfNorTheOriginal) {
  for (const char* const text :
       {"null", "{}", R"({"kind":"value"})", R"({"kind":"stream","stream":{"chunks":[1]}})",
        R"({"kind":"stream","stream":{"chunks":[],"complete":true}})",
        R"({"kind":"error","error":{}})", R"({"kind":7,"value":1})"}) {
    const Release release =
        run({says("h", Verdict::rewrite(parse_json(text)->value))}, Envelope::of("the original"));
    EXPECT_EQ(release.reason, "guard h failed: malformed redaction") << text;
    EXPECT_EQ(canonical_json(release.released.to_json()).find("the original"), std::string::npos);
  }
}

// PI-87
TEST_F(PipelineFoldTest, AnEmptyMessageIsReplacedAndALongOneCutAtACharacter) {
  const std::string longest(4096, 'a');
  const Release release =
      run({says("e", Verdict::escalate("")), says("fits", Verdict::escalate(longest)),
           says("long", Verdict::escalate(longest + "b")),
           says("wide", Verdict::escalate(std::string(4095, 'a') + "\xe2\x82\xac"))});
  EXPECT_EQ(messages(release), (Texts{"escalated by e", longest, longest, std::string(4095, 'a')}));
}

// PI-24
TEST_F(PipelineFoldTest, AStreamMayLoseAndChangeChunksAndMayBeCut) {
  const Envelope fewer = stream({"a", "****"});
  EXPECT_EQ(run({says("r", Verdict::rewrite(fewer.to_json()))}, stream({"a", "b", "c"})).verdict,
            Verdict::Kind::Rewrite);
  Envelope cut = stream({"a"});
  cut.complete = false;
  cut.reason = "limit";
  const Release release = run({says("r", Verdict::rewrite(cut.to_json()))}, stream({"a", "b"}));
  EXPECT_FALSE(release.released.complete);
}

// PI-26
TEST_F(PipelineFoldTest, LimitsCutAStreamBeforeTheHooksAndAgainBehindThem) {
  const StreamLimits few{.bytes = 10, .chunks = 3};
  builder.stream_limits(few);
  const Release many = run({says("a", Verdict::allow())}, stream({"1", "2", "3", "4"}));
  EXPECT_EQ(seen.at(0), R"({"kind":"stream","stream":{"chunks":["1","2","3"],"complete":false,)"
                        R"("reason":"too many chunks"}})");
  EXPECT_FALSE(many.to_json().contains("original"));
  builder.stream_limits(few);
  const Envelope grown = stream({"123456", "78901"});
  const Release release = run({says("r", Verdict::rewrite(grown.to_json()))}, stream({"1"}));
  EXPECT_EQ(canonical_json(release.released.to_json()),
            R"({"kind":"stream","stream":{"chunks":["123456"],"complete":false,)"
            R"("reason":"too many bytes"}})");
}

// PI-26
TEST_F(PipelineFoldTest, TheLimitsOfAPlanThatSetsNoneAreThoseOfTheSpecification) {
  const auto plan = PlanBuilder().build();
  ASSERT_TRUE(plan);
  EXPECT_EQ((*plan)->stream_limits(),
            (StreamLimits{16'777'216, 10'000, std::chrono::milliseconds(300'000)}));
}

// PI-20
TEST_F(PipelineFoldTest, AContextMadeFromANameHoldsNothingElse) {
  run({says("a", Verdict::allow())}, Envelope::of(1), ResultContext{.tool = "read_file"});
  EXPECT_EQ(last_context.tool, "read_file");
  EXPECT_FALSE(last_context.call);
  EXPECT_FALSE(last_context.scope);
  EXPECT_FALSE(last_context.matched_grant_index);
  EXPECT_TRUE(last_context.effect_class.empty());
  EXPECT_TRUE(last_context.policy_hash.empty());
  EXPECT_FALSE(last_context.is_error);
}

}  // namespace
}  // namespace sallyport::core
