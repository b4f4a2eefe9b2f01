#include "core/plan/pre_hook.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/pause.h"
#include "support/test_clock.h"
#include "unit/core/shape_checks.h"

namespace sallyport::core {
namespace {

using test::FunctionGuard;
using test::Governed;
using Texts = std::vector<std::string>;

const auto read_context = [](const json::value& value) {
  return pre_hook_context_from_json(value);
};
const auto read_decision = [](const json::value& value) {
  return pre_hook_decision_from_json(value);
};

constexpr std::string_view kContext =
    R"({"agent_id":"agent:a","tool_name":"read_file","tool_call_id":"toolu_1",)"
    R"("input_json":"{\"path\":\"/tmp/x\"}","working_directory":"/w","session_id":"s-1",)"
    R"("call_id":"c-1","server":"files","tier":"Observe","effect_class":"none","pass":1})";

class DirectoryUpstream final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return Envelope::of("ran");
  }
  std::string working_directory() const override { return "/w"; }
};

class PreHookTest : public testing::Test {
 protected:
  using Simple = std::function<Result<PreHookDecision>(const PreHookContext&)>;

  void hook(std::string name, Simple simple, bool rewrites = false) {
    governed.plan.guard(std::make_shared<PreHookGuard>(
        name,
        [this, name, simple = std::move(simple)](PreHookContext context) -> Task<PreHookDecision> {
          called.push_back(name);
          inputs.push_back(context.input_json);
          contexts.push_back(context);
          co_return simple(context);
        },
        PreHookGuard::Options{.rewrites = rewrites}));
  }
  void allowing(std::string name) {
    hook(std::move(name), [](const PreHookContext&) { return PreHookDecision::allow(); });
  }

  Answer call() {
    const Result<Answer> answer = governed.call(Governed::read_file());
    EXPECT_TRUE(answer);
    return answer ? *answer : Answer{};
  }
  bool ran() const { return !governed.upstream->calls.empty(); }
  // `/guards` of the last record, each as `guard:verdict` or `guard:verdict:why`.
  Texts recorded() const {
    Texts texts;
    const Draft record = governed.recorder.records().back();
    for (const json::value& run : record.body.at("guards").as_array()) {
      std::string text = std::string(run.at("guard").as_string()) + ":" +
                         std::string(run.at("verdict").as_string());
      if (const json::value* const why = run.as_object().if_contains("why")) {
        if (why->is_string()) text += ":" + std::string(why->get_string());
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }

  Governed governed;
  Texts called;
  Texts inputs;
  std::vector<PreHookContext> contexts;
};

// EV-64
TEST_F(PreHookTest, AContextIsReadAndWrittenAgainByteForByte) {
  expect_round_trip(kContext, read_context);
  json::value without = parsed(kContext);
  without.as_object()["working_directory"] = nullptr;
  expect_round_trip(canonical_json(without), read_context);
  expect_words(kContext, "/tier", "context.tier", {"Observe", "Confirm"}, read_context);
}

// EV-64 EV-109 (partly)
TEST_F(PreHookTest, EachMemberOfAContextIsChecked) {
  expect_each_member_is_checked(kContext, "context", {.optional = {"/working_directory"}},
                                read_context);
}

// EV-64
TEST_F(PreHookTest, AHookSeesTheWholeContextWithTheRealInput) {
  governed.tool = std::make_shared<DirectoryUpstream>();
  governed.plan.tool("files", "read_file", {Tier::Observe, "none"});
  allowing("look");
  Call asked = Governed::read_file();
  asked.server = "files";
  const Result<Answer> answer = governed.call(asked);
  ASSERT_TRUE(answer);
  ASSERT_EQ(contexts.size(), 1u);
  json::value wanted = parsed(kContext);
  wanted.as_object()["call_id"] = answer->call_id;
  EXPECT_EQ(canonical_json(to_json(contexts[0])), canonical_json(wanted));
}

// EV-64
TEST_F(PreHookTest, AToolWithoutADirectoryAndAClassGivesNullAndTheMostCarefulClass) {
  allowing("look");
  call();
  EXPECT_FALSE(contexts.at(0).working_directory);
  EXPECT_EQ(contexts.at(0).tier, Tier::Confirm);
  EXPECT_EQ(contexts.at(0).effect_class, "unknown");
}

// EV-65
TEST_F(PreHookTest, ExactlyThreeDecisionsAreKnown) {
  expect_round_trip(R"({"decision":"allow"})", read_decision);
  expect_round_trip(R"({"decision":"deny","reason":"no"})", read_decision);
  expect_round_trip(R"({"decision":"modify","input_json":"{}","reason":null})", read_decision);
  expect_round_trip(R"({"decision":"modify","input_json":"{}","reason":"why"})", read_decision);
  const Result<PreHookDecision> modify =
      read_decision(parsed(R"({"decision":"modify","input_json":"[1]"})"));
  ASSERT_TRUE(modify);
  EXPECT_EQ(*modify, PreHookDecision::modify("[1]"));
}

// EV-65
TEST_F(PreHookTest, AnyOtherDecisionIsRefusedByItsField) {
  for (const char* const word : {"ask", "ALLOW", "", "block"}) {
    expect_refused(json::object{{"decision", word}}, "decision.decision", read_decision);
  }
  expect_refused(parsed("{}"), "decision.decision", read_decision);
  expect_refused(parsed(R"("allow")"), "decision", read_decision);
  expect_each_member_is_checked(R"({"decision":"deny","reason":"no"})", "decision", {},
                                read_decision);
  expect_each_member_is_checked(R"({"decision":"modify","input_json":"{}","reason":"r"})",
                                "decision", {.optional = {"/reason"}}, read_decision);
}

// EV-66
TEST_F(PreHookTest, WithoutHooksOrWithHooksThatAllTheCallRuns) {
  EXPECT_TRUE(call().result.success);
  governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
  allowing("a");
  allowing("b");
  Call other = Governed::read_file();
  other.tool_call_id = "toolu_2";
  EXPECT_TRUE(governed.call(other)->result.success);
  EXPECT_EQ(governed.upstream->calls.size(), 2u);
  EXPECT_EQ(called, (Texts{"a", "b"}));
}

// EV-67
TEST_F(PreHookTest, RewritingHooksRunOnceAndBeforeThoseThatDecide) {
  allowing("decide-1");
  hook(
      "rewrite-1",
      [](const PreHookContext&) { return PreHookDecision::modify(R"({"by":"rewrite-1"})"); }, true);
  hook("decide-2", [](const PreHookContext& context) {
    if (context.pass > 1) return PreHookDecision::allow();
    return PreHookDecision::modify(R"({"by":"decide-2"})");
  });
  hook(
      "rewrite-2",
      [](const PreHookContext&) { return PreHookDecision::modify(R"({"by":"rewrite-2"})"); }, true);
  call();
  EXPECT_EQ(called,
            (Texts{"rewrite-1", "rewrite-2", "decide-1", "decide-2", "decide-1", "decide-2"}));
  EXPECT_EQ(inputs[1], R"({"by":"rewrite-1"})");
  EXPECT_EQ(inputs[2], R"({"by":"rewrite-2"})");
  EXPECT_EQ(canonical_json(governed.upstream->calls.at(0).input), R"({"by":"decide-2"})");
}

// EV-68 EV-76 AU-13
TEST_F(PreHookTest, TheFirstDenyWinsVerbatimAndLaterHooksAreSkipped) {
  allowing("a");
  hook("b", [](const PreHookContext&) { return PreHookDecision::deny("  No\twrites,  please "); });
  hook("c", [](const PreHookContext&) { return PreHookDecision::deny("another"); });
  const Answer answer = call();
  EXPECT_EQ(answer.result.output, "Blocked by pre-execution hook:   No\twrites,  please ");
  EXPECT_FALSE(answer.result.success);
  EXPECT_EQ(answer.outcome, Outcome::blocked("  No\twrites,  please "));
  EXPECT_EQ(called, (Texts{"a", "b"}));
  EXPECT_EQ(recorded(), (Texts{"a:allow", "b:deny", "c:skipped:denied_earlier"}));
  EXPECT_FALSE(ran());
}

// EV-69 EV-76
TEST_F(PreHookTest, AHookThatErrsOrThrowsDeniesByNameAndLaterHooksStillRun) {
  for (const bool throws : {true, false}) {
    governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
    called.clear();
    hook("broken", [throws](const PreHookContext&) -> Result<PreHookDecision> {
      if (throws) throw std::runtime_error("secret detail");
      return fail(ErrorCode::Unavailable, "secret detail");
    });
    allowing("later");
    const Answer answer = call();
    EXPECT_EQ(answer.result.output,
              std::string("Blocked by pre-execution hook: guard broken failed: ") +
                  (throws ? "exception" : "error"));
    EXPECT_EQ(called, (Texts{"broken", "later"}));
    EXPECT_EQ(recorded(),
              (Texts{throws ? "broken:error:exception" : "broken:error:error", "later:allow"}));
  }
  EXPECT_FALSE(ran());
}

// EV-69
TEST_F(PreHookTest, AHookThatReturnsAnotherDecisionDeniesByName) {
  hook("odd", [](const PreHookContext&) {
    return pre_hook_decision_from_json(json::object{{"decision", "maybe"}});
  });
  EXPECT_EQ(call().outcome, Outcome::blocked("guard odd failed: error"));
  EXPECT_FALSE(ran());
}

// EV-69
TEST_F(PreHookTest, AHookThatTakesMoreThanTwoSecondsDeniesByName) {
  test::TestClock clock;
  governed.clock = &clock;
  std::chrono::milliseconds took{2000};
  hook("slow", [&](const PreHookContext&) {
    clock.advance(took);
    return PreHookDecision::allow();
  });
  EXPECT_TRUE(call().result.success);
  took = std::chrono::milliseconds(2001);
  Call other = Governed::read_file();
  other.tool_call_id = "toolu_2";
  EXPECT_EQ(governed.call(other)->outcome, Outcome::blocked("guard slow failed: timeout"));
}

// EV-69
TEST_F(PreHookTest, AHookThatNeverComesBackIsNotWaitedFor) {
  governed.plan.guard(std::make_shared<PreHookGuard>(
      "silent",
      [](PreHookContext) -> Task<PreHookDecision> {
        co_await test::pause(std::chrono::hours(1));
        co_return PreHookDecision::allow();
      },
      PreHookGuard::Options{.waits = true, .limit = std::chrono::milliseconds(20)}));
  EXPECT_EQ(call().outcome, Outcome::blocked("guard silent failed: timeout"));
  EXPECT_FALSE(ran());
}

// EV-70
TEST_F(PreHookTest, OnlyThePolicyLetsANamedHookFailOpenAndTheRecordSaysSo) {
  hook("broken", [](const PreHookContext&) -> Result<PreHookDecision> {
    return fail(ErrorCode::Unavailable, "down");
  });
  hook("also-broken", [](const PreHookContext&) -> Result<PreHookDecision> {
    return fail(ErrorCode::Unavailable, "down");
  });
  governed.plan.fail_open("broken");
  Texts logged;
  governed.log = [&](std::string_view line) { logged.emplace_back(line); };
  EXPECT_EQ(call().outcome, Outcome::blocked("guard also-broken failed: error"));
  EXPECT_EQ(recorded(), (Texts{"broken:error:fail_open", "also-broken:error:error"}));
  call();
  EXPECT_EQ(logged, (Texts{"guard `broken` failed (error) and the policy lets the call pass: 1 "
                           "since it began to fail",
                           "guard `broken` failed (error) and the policy lets the call pass: 2 "
                           "since it began to fail"}));
  const auto counted = governed.recorder.facts("fail_open");
  ASSERT_TRUE(counted && counted->size() == 1);
  EXPECT_NE(counted->at(0).value->find(R"("calls":2)"), std::string::npos) << *counted->at(0).value;
}

// EV-71
TEST_F(PreHookTest, AModifyReplacesTheInputForLaterHooksAndOneThatChangesNothingIsAnAllow) {
  hook("same",
       [](const PreHookContext&) { return PreHookDecision::modify(R"({ "path" : "/tmp/x" })"); });
  hook("change", [](const PreHookContext& context) {
    if (context.pass > 1) return PreHookDecision::allow();
    return PreHookDecision::modify(R"({"path":"/b"})");
  });
  hook("look", [](const PreHookContext&) { return PreHookDecision::deny("seen enough"); });
  call();
  EXPECT_EQ(inputs, (Texts{R"({"path":"/tmp/x"})", R"({"path":"/tmp/x"})", R"({"path":"/b"})"}));
  EXPECT_EQ(recorded(), (Texts{"same:allow", "change:rewrite", "look:deny"}));
}

// EV-72
TEST_F(PreHookTest, AModifyByADecidingHookMakesAllDecidingGuardsDecideAgain) {
  Texts seen;
  governed.plan.guard(std::make_shared<FunctionGuard>("paths", [&](const Call& call) {
    seen.push_back(canonical_json(call.input));
    return call.input.at("path") == json::value("/etc") ? Verdict::deny("outside")
                                                        : Verdict::allow();
  }));
  hook("change",
       [](const PreHookContext&) { return PreHookDecision::modify(R"({"path":"/etc"})"); });
  EXPECT_EQ(call().outcome, Outcome::blocked("outside"));
  EXPECT_EQ(seen, (Texts{R"({"path":"/tmp/x"})", R"({"path":"/etc"})"}));
  EXPECT_FALSE(ran());
}

// EV-72
TEST_F(PreHookTest, FourPassesWithoutRestDenyAndThreeWithRestAllow) {
  std::size_t rests_at = 99;
  hook("restless", [&](const PreHookContext& context) {
    if (context.pass >= rests_at) return PreHookDecision::allow();
    return PreHookDecision::modify(std::to_string(context.pass));
  });
  EXPECT_EQ(call().outcome, Outcome::blocked("rewrite did not settle"));
  EXPECT_EQ(contexts.size(), 4u);
  EXPECT_EQ(contexts.back().pass, 4u);
  rests_at = 4;
  Call other = Governed::read_file();
  other.tool_call_id = "toolu_2";
  EXPECT_TRUE(governed.call(other)->result.success);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-73
TEST_F(PreHookTest, AModifyThatIsNotOneJsonValueDeniesAndNeitherInputRuns) {
  for (const char* const text : {"", "{", R"({"a":1} {"b":2})", R"({"a":1,"a":2})", "nan",
                                 R"({"a":"\ud800"})", "\"\xff\""}) {
    governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
    hook("bad", [text](const PreHookContext&) { return PreHookDecision::modify(text); });
    const Answer answer = call();
    EXPECT_EQ(answer.outcome.kind, Outcome::Kind::Blocked) << text;
    EXPECT_TRUE(answer.outcome.text.starts_with("bad gave an invalid input: ")) << text;
    EXPECT_TRUE(answer.result.output.starts_with("Blocked by pre-execution hook: ")) << text;
  }
  EXPECT_FALSE(ran());
}

// EV-74
TEST_F(PreHookTest, EachModifyIsRecordedWithItsReasonAndBothDigests) {
  hook("change", [](const PreHookContext& context) {
    if (context.pass > 1) return PreHookDecision::allow();
    return PreHookDecision::modify(R"({"path":"/b"})", "one form");
  });
  call();
  const KeyedDigest digest("k");
  const json::object run = governed.recorder.records().back().body.at("guards").at(0).as_object();
  EXPECT_EQ(run.at("guard"), "change");
  EXPECT_EQ(run.at("verdict"), "rewrite");
  EXPECT_EQ(run.at("evidence").at("reason"), "one form");
  EXPECT_EQ(run.at("evidence").at("before"), json::value(digest(R"({"path":"/tmp/x"})")));
  EXPECT_EQ(run.at("evidence").at("after"), json::value(digest(R"({"path":"/b"})")));
}

class CountingApprover final : public Approver {
 public:
  Task<Reply> answer(Question question) const override {
    asked.push_back(canonical_json(question.input));
    co_return Reply::approve("user:ada");
  }
  mutable Texts asked;
};

// EV-75
TEST_F(PreHookTest, AModifyFoundWhenAnApprovalIsUsedVoidsItAndAsksAgain) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  const auto approver = std::make_shared<CountingApprover>();
  governed.approver = approver;
  hook("changes-its-mind", [&](const PreHookContext&) {
    if (approver->asked.empty()) return PreHookDecision::allow();
    return PreHookDecision::modify(R"({"path":"/b"})");
  });
  EXPECT_TRUE(call().result.success);
  EXPECT_EQ(approver->asked, (Texts{R"({"path":"/tmp/x"})", R"({"path":"/b"})"}));
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(canonical_json(governed.upstream->calls[0].input), R"({"path":"/b"})");
}

}  // namespace
}  // namespace sallyport::core
