// Mistakes of a host: invalid answers, missing functions, listeners that hang, an engine that is
// destroyed too early or used after a fork.
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <thread>

#include "engine_setup.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;
using namespace std::chrono_literals;

std::string refusal_of(EngineBuilder& builder) {
  const Result<std::unique_ptr<Engine>> engine = builder.open();
  return engine ? "none" : engine.error().message;
}

// A bug: an enumerator that does not exist counted as allow.
// EV-69 (partly) AU-40 (partly)
TEST(EngineMisuseTest, ADecisionThatIsNoneDenies) {
  const CountedTool act("act", kLooks);
  const auto hooked =
      opened(EngineBuilder("")
                 .tool(act.tool())
                 .pre_hook("odd", [](const PreHookContext&) -> Result<PreHookDecision> {
                   PreHookDecision decision;
                   decision.kind = static_cast<PreHookDecision::Kind>(9);
                   return decision;
                 }));
  const auto authorized =
      opened(EngineBuilder("")
                 .tool(act.tool())
                 .authorizer("odd", [](const AuthorizationRequest&) -> Result<Authorization> {
                   return Authorization{static_cast<Authorization::Kind>(9), {}};
                 }));
  const Result<Answer> by_hook = hooked->call(call_of("act"));
  const Result<Answer> by_authorizer = authorized->call(call_of("act"));
  ASSERT_TRUE(by_hook && by_authorizer);
  EXPECT_EQ(by_hook->outcome, Outcome::blocked("guard odd failed: error"));
  EXPECT_EQ(by_authorizer->outcome, Outcome::blocked("odd gave no such outcome"));
  EXPECT_EQ(act.runs(), 0);
}

// EV-113 (partly) EV-57 (partly)
TEST(EngineMisuseTest, WhatCannotBeIsRefusedAtTheOpening) {
  EXPECT_EQ(refusal_of(EngineBuilder("").guard("g", nullptr)), "guard `g` has no function");
  EXPECT_EQ(refusal_of(EngineBuilder("").result_guard("g", nullptr)), "guard `g` has no function");
  EXPECT_EQ(refusal_of(EngineBuilder("").pre_hook("g", nullptr)), "guard `g` has no function");
  EXPECT_EQ(refusal_of(EngineBuilder("").authorizer("g", nullptr)), "guard `g` has no function");
  EXPECT_EQ(refusal_of(EngineBuilder("").hook("h", nullptr)), "hook `h` has no function");
  EXPECT_EQ(refusal_of(EngineBuilder("").sink("s", nullptr)), "sink `s` has no function");
  const auto hears = [](const Event&, const Subject&) -> Result<void> { return {}; };
  EXPECT_EQ(refusal_of(EngineBuilder("").hook("audit", hears)),
            "hook name `audit` is the ledger's");
  const auto takes = [](const AuditRecord&) -> Result<void> { return {}; };
  EXPECT_EQ(refusal_of(EngineBuilder("").sink("s", takes).sink("s", takes)),
            "sink name `s` is empty or used twice");
  EXPECT_EQ(refusal_of(EngineBuilder("").time_limit(0ms)), "`time_limit` is not above zero");
  EXPECT_EQ(refusal_of(EngineBuilder("").approval_time(0s)), "`approval_time` is not above zero");
}

TEST(EngineMisuseTest, SettingsOfAnAuthorizerArePartOfThePolicysHash) {
  const auto hash = [](json::value settings) {
    const auto allows = [](const AuthorizationRequest&) -> Result<Authorization> {
      return Authorization{};
    };
    return opened(EngineBuilder("").authorizer("a", allows, {.settings = std::move(settings)}))
        ->policy_hash();
  };
  EXPECT_NE(hash({{"limit", 1}}), hash({{"limit", 2}}));
}

// A bug: the tool ran, its record could not be written, and the next call was refused for it.
// EV-110 (partly)
TEST(EngineMisuseTest, ACallThatNoRecordCanHoldIsRefusedWithTheFieldBeforeItRuns) {
  const CountedTool look("look", kLooks);
  const auto engine = opened(EngineBuilder("").tool(look.tool()));
  Call call = call_of("look");
  call.turn = std::numeric_limits<std::uint64_t>::max();
  Call long_history = call_of("look");
  long_history.history_len = std::uint64_t{1} << 53;
  Call late = call_of("look");
  late.time_limit = -5ms;
  const Call broken = call_of("look", {}, json::value("\xff"));
  EXPECT_EQ(engine->call(call).error().where, "turn");
  EXPECT_EQ(engine->call(long_history).error().where, "history_len");
  EXPECT_EQ(engine->call(late).error().where, "time_limit");
  EXPECT_EQ(engine->call(broken).error().where, "input");
  EXPECT_EQ(look.runs(), 0);
  EXPECT_TRUE(engine->call(call_of("look"))->result.success);
  EXPECT_EQ(engine->records()->size(), 1u);
}

// PI-85 (partly)
TEST(EngineMisuseTest, ANumberThatIsNoneIsMalformedOutput) {
  const auto engine =
      opened(EngineBuilder("").tool(tool_of("odd", [](const Invocation&) -> Result<json::value> {
        return json::value{{"ratio", std::numeric_limits<double>::quiet_NaN()}};
      })));
  const Result<Answer> answer = engine->call(call_of("odd"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "upstream sent malformed output");
}

// EV-58 (partly) EV-60 (partly)
TEST(EngineMisuseTest, AHookThatHangsFailsAtItsLimitAndTheOthersAreTold) {
  const CountedTool act("act", kLooks);
  std::stop_source done;  // so that the test can end
  const auto hangs = [&done](const Event& event, const Subject&) -> Result<void> {
    if (event_type(event) != "tool_execution_started") return {};
    while (!done.stop_requested()) std::this_thread::sleep_for(1ms);
    return {};
  };
  Strings heard;
  const auto hears = [&heard](const Event& event, const Subject&) -> Result<void> {
    heard.emplace_back(event_type(event));
    return {};
  };
  const auto engine = opened(EngineBuilder("")
                                 .tool(act.tool())
                                 .hook("hangs", hangs, {.waits = true, .limit = 50ms})
                                 .hook("hears", hears));
  const Result<Answer> answer = engine->call(call_of("act"));
  done.request_stop();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("event sink failed: hangs"));
  EXPECT_EQ(act.runs(), 0);
  EXPECT_EQ(heard, (Strings{"recovery_prepared", "tool_authorization_started",
                            "tool_authorization_finished", "tool_execution_started",
                            "tool_execution_finished"}));
}

// AU-89 (partly)
TEST(EngineMisuseTest, ASinkThatHangsHoldsNoAnswer) {
  const CountedTool act("act", kLooks);
  std::stop_source done;
  const auto hangs = [&done](const AuditRecord&) -> Result<void> {
    while (!done.stop_requested()) std::this_thread::sleep_for(1ms);
    return {};
  };
  const auto engine = opened(
      EngineBuilder("").tool(act.tool()).sink("hangs", hangs, {.waits = true, .limit = 50ms}));
  const Result<Answer> answer = engine->call(call_of("act"));
  done.request_stop();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "act ran");
}

// A bug: a thread inside the engine during its destruction waited forever.
// AU-32 (partly) AU-36 (partly)
TEST(EngineMisuseTest, AnEngineThatGoesEndsTheCallsUnderWay) {
  std::atomic<int> begun{0};
  EngineBuilder builder("");
  builder.tool(tool_of("slow", [&](const Invocation& invocation) -> Result<json::value> {
    ++begun;
    while (!invocation.stop_requested()) std::this_thread::sleep_for(1ms);
    return json::value("late");
  }));
  builder.tool(CountedTool("act", kActs).tool());
  auto engine = opened(builder);
  Engine& inside = *engine;
  Result<Answer> slow = fail(ErrorCode::Internal, "not yet");
  Result<Answer> held = fail(ErrorCode::Internal, "not yet");
  std::thread first([&] { slow = inside.call(call_of("slow")); });
  std::thread second([&] { held = inside.call(call_of("act")); });
  while (begun == 0 || inside.records({.outcome = "requires_confirmation"})->empty()) {
    std::this_thread::sleep_for(1ms);
  }
  engine.reset();
  first.join();
  second.join();
  ASSERT_TRUE(slow && held);
  EXPECT_EQ(slow->result.output, "cancelled");
  EXPECT_EQ(slow->effect, EffectState::Unknown);
  EXPECT_EQ(held->outcome, Outcome::blocked("cancelled"));
}

TEST(EngineMisuseTest, TheChildOfAForkIsToldToOpenItsOwn) {
  const CountedTool look("look", kLooks);
  auto engine = opened(EngineBuilder("").tool(look.tool()));
  const auto replay = engine->replay("evt-1");
  ASSERT_TRUE(replay);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const Result<Answer> answer = engine->call(call_of("look"));
    const bool refused = !answer && answer.error().code == ErrorCode::Conflict;
    const bool unread = !engine->records() && engine->verifier_key().empty();
    const auto said = (*replay)->ask({.agent_id = "agent:a", .session_id = "s", .text = "?"});
    const bool unanswered = !said && said.error().code == ErrorCode::Conflict;
    engine.reset();
    _exit(refused && unread && unanswered ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(engine->call(call_of("look"))) << "the parent's is as it was";
  EXPECT_FALSE(engine->verifier_key().empty());
}

}  // namespace
}  // namespace sallyport::test
