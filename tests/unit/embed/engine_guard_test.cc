// Functions of a host that decide, rewrite and listen; and the effect of their failures on a call.
#include <future>
#include <span>
#include <thread>

#include "engine_setup.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;
using std::chrono::milliseconds;

// Longer than any test may wait.
constexpr milliseconds kLong = std::chrono::minutes(5);

Result<json::value> echo(const Invocation& invocation) {
  return invocation.call().input;
}

EngineBuilder::Guard says(Verdict verdict) {
  return [verdict = std::move(verdict)](const Call&, const GuardView&) -> Result<Verdict> {
    return verdict;
  };
}

EngineBuilder::PreHook modify(std::string input_json) {
  return [text = std::move(input_json)](const PreHookContext&) -> Result<PreHookDecision> {
    return PreHookDecision::modify(text, "as it should be");
  };
}

const GuardRun& run_of(const AuditRecord& record, const std::string& guard) {
  for (const GuardRun& run : record.guards) {
    if (run.guard == guard) return run;
  }
  ADD_FAILURE() << "no guard " << guard;
  std::abort();
}

// AU-13 (partly) AU-14 (partly) AU-23 (partly)
TEST(EngineGuardTest, ADenialIsTheAnswerAndTheRecordNamesRuleAndEvidence) {
  const CountedTool act("act", kLooks);
  Verdict denial = Verdict::deny("too large", "ceiling.50");
  denial.evidence = {{"amount", 70}};
  const auto engine = opened(EngineBuilder("")
                                 .tool(act.tool())
                                 .guard("ceiling", says(denial))
                                 .guard("later", says(Verdict::allow())));
  const Result<Answer> answer = engine->call(call_of("act"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("too large"));
  EXPECT_EQ(answer->result.output, "Blocked: too large");
  EXPECT_EQ(act.runs(), 0);
  const AuditRecord record = engine->records()->front();
  EXPECT_EQ(run_of(record, "ceiling").verdict, GuardVerdict::Deny);
  EXPECT_EQ(run_of(record, "ceiling").rule, "ceiling.50");
  EXPECT_EQ(run_of(record, "ceiling").evidence, json::value({{"amount", 70}}));
  EXPECT_EQ(run_of(record, "later").verdict, GuardVerdict::Skipped);
  EXPECT_EQ(run_of(record, "later").why, "denied_earlier");
}

TEST(EngineGuardTest, AGuardSeesTheCallAndHowItsToolIsClassified) {
  GuardView seen;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(CountedTool("act", kActs).tool())
                 .guard("look",
                        [&](const Call& call, const GuardView& view) -> Result<Verdict> {
                          seen = view;
                          EXPECT_EQ(call.agent_id, kAgent);
                          return Verdict::allow();
                        })
                 .autonomy(Autonomy::ActAuto));
  (void)engine->call(call_of("act"));
  EXPECT_EQ(seen.classification.effect_class, "store.write");
  EXPECT_EQ(seen.pass, 1u);
}

TEST(EngineGuardTest, AGuardThatErrsThrowsOrOverrunsDenies) {
  static constexpr milliseconds kLimit(50);
  using Case = std::pair<EngineBuilder::Guard, std::string>;
  for (const bool waits : {false, true}) {
    std::promise<void> let_go;
    const auto slow = [waits, end = let_go.get_future().share()](
                          const Call&, const GuardView&) -> Result<Verdict> {
      if (waits) {
        end.wait();
      } else {
        const auto over = std::chrono::steady_clock::now() + kLimit;
        while (std::chrono::steady_clock::now() <= over) std::this_thread::yield();
      }
      return Verdict::allow();
    };
    for (const auto& [guard, failure] :
         {Case([](const Call&, const GuardView&)
                   -> Result<Verdict> { return fail(ErrorCode::Unavailable, "no answer"); },
               "error"),
          Case([](const Call&,
                  const GuardView&) -> Result<Verdict> { throw std::out_of_range("x"); },
               "exception"),
          Case(slow, "timeout")}) {
      const CountedTool act("act", kLooks);
      const auto engine = opened(EngineBuilder("")
                                     .tool(act.tool())
                                     .guard("shaky", guard, {.waits = waits, .limit = kLimit}));
      const Result<Answer> answer = engine->call(call_of("act"));
      if (failure == "timeout") let_go.set_value();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->outcome, Outcome::blocked("guard shaky failed: " + failure));
      EXPECT_EQ(act.runs(), 0);
      EXPECT_EQ(run_of(engine->records()->front(), "shaky").verdict, GuardVerdict::Error);
    }
  }
}

// The guard still waits when its call is over.
TEST(EngineGuardTest, AGuardThatWaitsIsNotWaitedForLongerThanItsLimit) {
  std::promise<void> let_go;
  const auto hangs = [end = let_go.get_future().share()](const Call&,
                                                         const GuardView&) -> Result<Verdict> {
    end.wait();
    return Verdict::allow();
  };
  const auto engine =
      opened(EngineBuilder("")
                 .tool(CountedTool("act", kLooks).tool())
                 .guard("hangs", hangs, {.waits = true, .limit = milliseconds(50)}));
  const Result<Answer> answer = engine->call(call_of("act"));
  let_go.set_value();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
}

// A cancelled call once waited for guards until their limit. EV-106 (partly) AU-14 (partly)
TEST(EngineGuardTest, ACancelEndsTheWaitForAGuardAndTheCallWithIt) {
  const CountedTool act("act", kLooks);
  std::stop_source stop;
  std::promise<void> let_go;
  const auto waits = [&stop, end = let_go.get_future().share()](
                         const Call&, const GuardView&) -> Result<Verdict> {
    stop.request_stop();
    end.wait();
    return Verdict::allow();
  };
  const auto engine =
      opened(EngineBuilder("")
                 .tool(act.tool())
                 .guard("slow", waits, {.waits = true, .limit = kLong, .fail_open = true})
                 .guard("later", says(Verdict::allow())));
  const Result<Answer> answer = engine->call(call_of("act"), {.cancel = stop.get_token()});
  let_go.set_value();
  EXPECT_EQ(answer->outcome, Outcome::blocked("cancelled"));
  EXPECT_EQ(act.runs(), 0);
  const AuditRecord record = engine->records()->front();
  for (const char* const guard : {"slow", "later"}) {
    EXPECT_EQ(run_of(record, guard).verdict, GuardVerdict::Skipped);
    EXPECT_EQ(run_of(record, guard).why, "cancelled");
  }
}

// EV-106 (partly) AU-50 (partly) PI-34 (partly)
TEST(EngineGuardTest, ACancelEndsTheWaitForAGuardOfResultsAndWhatItDidNotJudgeIsWithheld) {
  const CountedTool act("act", kActs);
  std::stop_source stop;
  std::promise<void> let_go;
  const auto waits = [&stop, end = let_go.get_future().share()](
                         const Envelope&, const ResultContext&) -> Result<Verdict> {
    stop.request_stop();
    end.wait();
    return Verdict::allow();
  };
  const auto engine =
      opened(EngineBuilder("")
                 .tool(act.tool())
                 .autonomy(Autonomy::ActAuto)
                 .result_guard("slow", waits, {.waits = true, .limit = kLong, .fail_open = true}));
  const Result<Answer> answer = engine->call(call_of("act", "t-1"), {.cancel = stop.get_token()});
  let_go.set_value();
  EXPECT_EQ(answer->result.output, "Result withheld by slow: cancelled");
  EXPECT_EQ(answer->effect, EffectState::Done);
  const json::object record = engine->record_json()->front();
  EXPECT_EQ(record.at("post_invocation").at("hooks"),
            json::value({{{"guard", "slow"}, {"state", "skipped"}, {"why", "cancelled"}}}));
  // An unjudged result is not replayed either, although the tool has acted.
  const Result<Answer> again = engine->call(call_of("act", "t-1"));
  EXPECT_TRUE(again->outcome.text.starts_with("unknown outcome:")) << again->outcome.text;
  EXPECT_EQ(act.runs(), 1);
}

// EV-70 (partly)
TEST(EngineGuardTest, OnlyAGuardThatMayFailOpenLetsTheCallPassAndTheRecordSaysSo) {
  const auto broken = [](const Call&, const GuardView&) -> Result<Verdict> {
    return fail(ErrorCode::Unavailable, "no answer");
  };
  const auto engine = opened(EngineBuilder("")
                                 .tool(CountedTool("act", kLooks).tool())
                                 .guard("advice", broken, {.fail_open = true}));
  EXPECT_EQ(engine->call(call_of("act"))->outcome.kind, Outcome::Kind::Completed);
  const AuditRecord record = engine->records()->front();
  EXPECT_EQ(run_of(record, "advice").verdict, GuardVerdict::Error);
  EXPECT_EQ(run_of(record, "advice").why, "fail_open");
}

// EV-68 (partly) EV-76 EV-64 (partly)
TEST(EngineGuardTest, APreHookSeesTheInputAndItsDenialIsHeardInItsOwnWords) {
  const CountedTool act("act", kLooks);
  PreHookContext seen;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(act.tool())
                 .pre_hook("no", [&](const PreHookContext& context) -> Result<PreHookDecision> {
                   seen = context;
                   return PreHookDecision::deny("not today");
                 }));
  const Result<Answer> answer = engine->call(call_of("act", "t-1", {{"path", "/x"}}));
  EXPECT_EQ(answer->result.output, "Blocked by pre-execution hook: not today");
  EXPECT_EQ(act.runs(), 0);
  EXPECT_EQ(seen.agent_id, kAgent);
  EXPECT_EQ(seen.tool_name, "act");
  EXPECT_EQ(seen.tool_call_id, "t-1");
  EXPECT_EQ(seen.input_json, R"({"path":"/x"})");
  EXPECT_EQ(seen.tier, Tier::Observe);
  EXPECT_EQ(seen.pass, 1u);
}

// EV-69 (partly)
TEST(EngineGuardTest, APreHookThatFailsDeniesWithItsNameAlsoWhenItWaits) {
  for (const bool waits : {false, true}) {
    const auto engine = opened(EngineBuilder("")
                                   .tool(CountedTool("act", kLooks).tool())
                                   .pre_hook("shaky",
                                             [](const PreHookContext&) -> Result<PreHookDecision> {
                                               throw std::runtime_error("secret");
                                             },
                                             {.waits = waits}));
    const Result<Answer> answer = engine->call(call_of("act"));
    EXPECT_NE(answer->result.output.find("shaky"), std::string::npos) << answer->result.output;
    EXPECT_EQ(answer->result.output.find("secret"), std::string::npos) << answer->result.output;
  }
}

// EV-67 (partly) EV-71 (partly) EV-72 (partly) EV-74 (partly) AU-6 (partly)
TEST(EngineGuardTest, ARewritingHookChangesTheInputOnceAndADecidingOneMakesAllDecideAgain) {
  std::vector<std::pair<unsigned, std::int64_t>> seen;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(tool_of("echo", echo))
                 .guard("sees",
                        [&](const Call& call, const GuardView& view) -> Result<Verdict> {
                          seen.emplace_back(view.pass, call.input.at("n").as_int64());
                          return Verdict::allow();
                        })
                 .rewriting_hook("first", modify(R"({"n":2})"))
                 .pre_hook("second", modify(R"({"n":3})")));
  const Result<Answer> answer = engine->call(call_of("echo", "", {{"n", 1}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, R"({"n":3})");
  EXPECT_EQ(seen, (std::vector<std::pair<unsigned, std::int64_t>>{{1, 2}, {2, 3}}));
  const AuditRecord record = engine->records()->front();
  EXPECT_EQ(record.requested_input, json::value({{"n", 1}}));
  EXPECT_EQ(record.effective_input, json::value({{"n", 3}}));
  EXPECT_EQ(run_of(record, "first").verdict, GuardVerdict::Rewrite);
  EXPECT_EQ(run_of(record, "second").evidence.at("reason"), "as it should be");
}

// EV-73 (partly)
TEST(EngineGuardTest, AModifyThatIsNoJsonDeniesAndTheOriginalDoesNotRun) {
  for (const char* const text : {"", "{", R"({"a":1,"a":2})", "1 2"}) {
    const CountedTool act("act", kLooks);
    const auto engine =
        opened(EngineBuilder("").tool(act.tool()).rewriting_hook("bad", modify(text)));
    EXPECT_EQ(engine->call(call_of("act"))->outcome.kind, Outcome::Kind::Blocked) << text;
    EXPECT_EQ(act.runs(), 0) << text;
  }
}

// EV-87 (partly) EV-86 (partly)
TEST(EngineGuardTest, AnAuthorizerAllowsDeniesOrAsksAPerson) {
  for (const bool waits : {false, true}) {
    const CountedTool act("act", kLooks);
    std::string asked;
    const auto engine = opened(
        EngineBuilder("")
            .tool(act.tool())
            .authorizer("house",
                        [](const AuthorizationRequest& request) -> Result<Authorization> {
                          const std::string word(request.preview.raw_input.at("word").as_string());
                          if (word == "deny") return Authorization{Authorization::Kind::Deny, word};
                          if (word == "throw") throw std::runtime_error("secret");
                          if (word == "allow") return Authorization{};
                          return Authorization{Authorization::Kind::Prompt, "really?"};
                        },
                        {.waits = waits})
            .approver([&](const Question& question) -> Result<Reply> {
              asked = question.description;
              return Reply::approve(kPerson);
            }));
    const auto with = [&](const char* word) {
      return *engine->call(call_of("act", "", {{"word", word}}));
    };
    EXPECT_EQ(with("deny").outcome, Outcome::blocked("deny"));
    EXPECT_EQ(with("throw").outcome.kind, Outcome::Kind::Blocked);
    EXPECT_EQ(act.runs(), 0);
    EXPECT_EQ(with("allow").outcome.kind, Outcome::Kind::Completed);
    EXPECT_EQ(asked, "");
    EXPECT_EQ(with("prompt").outcome.kind, Outcome::Kind::Completed);
    EXPECT_EQ(asked, "really?");
  }
}

// EV-86
TEST(EngineGuardTest, AnInputThatTheToolCannotReadDeniesTheCall) {
  using Reads = std::function<Result<json::value>(const Call&)>;
  for (const auto& [reads, cause] :
       {std::pair<Reads, std::string>(
            [](const Call&) -> Result<json::value> {
              return fail(ErrorCode::InvalidInput, "no `path`");
            },
            "no `path`"),
        std::pair<Reads, std::string>(
            [](const Call& call) -> Result<json::value> { return call.input.at("path"); }, "")}) {
    const CountedTool counted("act", kLooks);
    Tool tool = counted.tool();
    tool.structured_input = reads;
    const auto engine = opened(EngineBuilder("").tool(tool));
    const Result<Answer> answer = engine->call(call_of("act"));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
    EXPECT_TRUE(answer->outcome.text.ends_with(cause)) << answer->outcome.text;
    EXPECT_EQ(counted.runs(), 0);
    const std::vector<json::object> events = *engine->events({.call_id = answer->call_id});
    EXPECT_TRUE(events.front().at("payload").at("preview").at("structured_input").is_null());
    EXPECT_EQ(event_types_of(*engine, {.call_id = answer->call_id}),
              (Strings{"tool_authorization_started", "tool_authorization_finished",
                       "tool_authorization_blocked"}));
    for (const json::object& event : std::span(events).subspan(1)) {
      EXPECT_EQ(event.at("payload").at("outcome"), "deny");
      EXPECT_EQ(event.at("payload").at("reason"), json::value(answer->outcome.text));
    }
  }
}

// PI-2 (partly) PI-4 (partly) PI-6 (partly) PI-42 (partly)
TEST(EngineGuardTest, ResultGuardsRewriteInOrderAndMayWithholdWhatTheToolDid) {
  const auto append = [](const char* text) {
    return [=](const Envelope& result, const ResultContext&) -> Result<Verdict> {
      return Verdict::rewrite(
          Envelope::of(json::value(std::string(result.value.as_string()) + text)).to_json());
    };
  };
  const auto engine = opened(
      EngineBuilder("")
          .tool(CountedTool("act", kLooks).tool())
          .result_guard("a", append(" a"))
          .result_guard("b", append(" b"))
          .result_guard("c", [](const Envelope&, const ResultContext& context) -> Result<Verdict> {
            if (context.call->input == json::object{}) return Verdict::allow();
            return Verdict::deny("private");
          }));
  EXPECT_EQ(engine->call(call_of("act"))->result.output, "act ran a b");
  const Result<Answer> withheld = engine->call(call_of("act", "", {{"n", 1}}));
  EXPECT_EQ(withheld->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(withheld->effect, EffectState::Done);
  EXPECT_EQ(withheld->result.output, "Result withheld by c: private");
}

// PI-35 (partly) PI-38 (partly)
TEST(EngineGuardTest, AResultGuardThatFailsWithholdsTheResult) {
  for (const bool waits : {false, true}) {
    const auto engine =
        opened(EngineBuilder("")
                   .tool(CountedTool("act", kLooks).tool())
                   .result_guard("shaky",
                                 [](const Envelope&, const ResultContext&) -> Result<Verdict> {
                                   throw std::runtime_error("secret");
                                 },
                                 {.waits = waits}));
    const Result<Answer> answer = engine->call(call_of("act"));
    EXPECT_FALSE(answer->result.success);
    EXPECT_NE(answer->result.output.find("guard shaky failed: exception"), std::string::npos)
        << answer->result.output;
    EXPECT_EQ(answer->result.output.find("act ran"), std::string::npos);
  }
}

// PI-72 (partly)
TEST(EngineGuardTest, ShippedGuardsOfResultsAreThereWithTheirSettings) {
  const auto engine =
      opened(EngineBuilder("")
                 .tool(tool_of("leak",
                               [](const Invocation&) {
                                 return Result<json::value>("key AKIAIOSFODNN7EXAMPLE");
                               }))
                 .output_sanitizer()
                 .size_limiter());
  const Result<Answer> answer = engine->call(call_of("leak"));
  EXPECT_EQ(answer->result.output.find("AKIA"), std::string::npos) << answer->result.output;
  EXPECT_FALSE(EngineBuilder("").size_limiter().output_sanitizer().open());
  const auto refused = EngineBuilder("").size_limiter({{"max_itms", 3}}).open();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("max_itms"), std::string::npos) << refused.error().message;
}

// EV-113 (partly) PI-89 (partly)
TEST(EngineGuardTest, NamesThatStandTwiceAreRefusedAtTheDoor) {
  const auto hear = [](const Event&, const Subject&) -> Result<void> { return {}; };
  const auto pass = [](const Envelope&, const ResultContext&) -> Result<Verdict> {
    return Verdict::allow();
  };
  EXPECT_FALSE(EngineBuilder("").hook("ear", hear).hook("ear", hear).open());
  EXPECT_FALSE(EngineBuilder("").hook("", hear).open());
  EXPECT_FALSE(EngineBuilder("").result_guard("one", pass).result_guard("one", pass).open());
}

TEST(EngineGuardTest, SettingsOfAGuardArePartOfThePolicyHash) {
  const auto hash_with = [](json::value settings) {
    return opened(EngineBuilder("").guard("g", says(Verdict::allow()),
                                          {.settings = std::move(settings)}))
        ->policy_hash();
  };
  EXPECT_EQ(hash_with({{"limit", 50}}), hash_with({{"limit", 50}}));
  EXPECT_NE(hash_with({{"limit", 50}}), hash_with({{"limit", 60}}));
}

// EV-60 (partly) EV-61 (partly)
TEST(EngineGuardTest, AHookThatFailsStopsWhatIsAnnouncedAndNothingThatIsReported) {
  const auto failing_on = [](std::string type) {
    return [type = std::move(type)](const Event& event, const Subject&) -> Result<void> {
      if (event_type(event) == type) throw std::runtime_error("no");
      return {};
    };
  };
  const CountedTool act("act", kLooks);
  const auto refusing =
      opened(EngineBuilder("").tool(act.tool()).hook("ear", failing_on("tool_execution_started")));
  EXPECT_EQ(refusing->call(call_of("act"))->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(act.runs(), 0);
  const auto reporting =
      opened(EngineBuilder("").tool(act.tool()).hook("ear", failing_on("tool_execution_finished")));
  EXPECT_EQ(reporting->call(call_of("act"))->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(act.runs(), 1);
  EXPECT_FALSE(EngineBuilder("").hook("ear", failing_on("recovery_prepared")).open());
}

// AU-88 (partly) AU-89 (partly)
TEST(EngineGuardTest, ASinkGetsEachRecordAndItsFailureChangesNothing) {
  Strings taken;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(CountedTool("act", kLooks).tool())
                 .sink("broken",
                       [](const AuditRecord&) -> Result<void> { throw std::runtime_error("no"); })
                 .sink("copy", [&](const AuditRecord& record) -> Result<void> {
                   taken.emplace_back(to_string(record.outcome.kind));
                   return {};
                 }));
  EXPECT_TRUE(engine->call(call_of("act", "t-1"))->result.success);
  (void)engine->call(call_of("act", "t-1"));
  (void)engine->call(call_of("unknown"));
  EXPECT_EQ(taken, (Strings{"completed", "cached", "blocked"}));
}

}  // namespace
}  // namespace sallyport::test
