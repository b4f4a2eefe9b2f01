// An engine seen from outside: tools that answer, fail, take too long or are cancelled.
#include "sallyport/engine.h"

#include <stdlib.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "engine_setup.h"
#include "ledger/proof/receipt.h"
#include "store/sqlite/sqlite_store.h"
#include "support/ledger_checks.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

using Seconds = std::chrono::duration<double>;
using Steady = std::chrono::steady_clock;
using Strings = std::vector<std::string>;

// Blocks a tool that ignores cancellation until the test releases it.
class Latch {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    entered_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_until_entered() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool entered_ = false;
  bool open_ = false;
};

// A result with a number beyond 2^53 once could not be recorded after its effect had happened.
TEST(EngineTest, ANumberThatNoRecordCanHoldIsTextInTheResult) {
  const auto engine = opened(EngineBuilder("").tool(
      tool_of("count",
              [](const Invocation&) -> Result<json::value> {
                return json::value{{"n", std::int64_t{9007199254740993}}, {"list", {1, 1e300}}};
              },
              {.tier = Tier::Observe, .effect_class = "none"})));
  const Result<Answer> answer = engine->call(call_of("count", "t-1"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(answer->result.data, (json::value{{"n", "9007199254740993"}, {"list", {1, "1E300"}}}));
  EXPECT_EQ(outcomes_of(*engine), Strings{"completed"});
}

// AU-28 (partly) AU-5 (partly) AU-7 (partly)
TEST(EngineTest, AToolAnswersAndTheRecordSaysWhatTheCallerGot) {
  const auto engine = opened(EngineBuilder("").tool(tool_of("add", [](const Invocation& i) {
    const json::value& input = i.call().input;
    return Result<json::value>(input.at("a").as_int64() + input.at("b").as_int64());
  })));
  const Result<Answer> answer = engine->call(call_of("add", "t-1", {{"a", 1}, {"b", 2}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "3");
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(answer->effect, EffectState::Done);
  const auto records = engine->records();
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 1u);
  const AuditRecord& record = records->front();
  EXPECT_EQ(record.call_id, answer->call_id);
  EXPECT_EQ(record.sequence, answer->sequence);
  EXPECT_EQ(record.tool_call_id, "t-1");
  EXPECT_EQ(record.provenance, Provenance());
  EXPECT_EQ(record.policy_hash, engine->policy_hash());
  EXPECT_EQ(record.outcome.result->output, "3");
}

// AU-28 (partly) AU-17 (partly)
TEST(EngineTest, AToolThatFailsOrThrowsIsCompletedWithoutSuccess) {
  const auto engine =
      opened(EngineBuilder("")
                 .tool(tool_of("fails",
                               [](const Invocation&) -> Result<json::value> {
                                 return fail(ErrorCode::NotFound, "no such note");
                               }))
                 .tool(tool_of("throws", [](const Invocation&) -> Result<json::value> {
                   throw std::runtime_error("password hunter2");
                 })));
  const Result<Answer> failed = engine->call(call_of("fails"));
  const Result<Answer> threw = engine->call(call_of("throws"));
  ASSERT_TRUE(failed && threw);
  for (const Answer& answer : {*failed, *threw}) {
    EXPECT_EQ(answer.outcome.kind, Outcome::Kind::Completed);
    EXPECT_FALSE(answer.result.success);
    EXPECT_EQ(answer.effect, EffectState::Done);
  }
  EXPECT_EQ(failed->result.output, "no such note");
  EXPECT_EQ(threw->result.output, "the tool failed") << "what it says may hold anything";
}

// AU-23 (partly) AU-4 (partly)
TEST(EngineTest, AToolThatDoesNotExistIsDeniedByPolicy) {
  const auto engine = opened(EngineBuilder("").tool(CountedTool("known", kLooks).tool()));
  const Result<Answer> answer = engine->call(call_of("unknown"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(answer->result.output, "Blocked: unknown tool `unknown`");
  EXPECT_EQ(answer->effect, EffectState::None);
  EXPECT_EQ(event_types_of(*engine, {.call_id = answer->call_id}),
            (Strings{"tool_authorization_started", "policy_denied", "tool_authorization_finished",
                     "tool_authorization_blocked"}));
  EXPECT_EQ(engine->records()->front().tier, Tier::Confirm);
}

TEST(EngineTest, AToolOfAServerIsFoundUnderThatServerAndOneWithoutUnderAny) {
  Tool special = tool_of("where", [](const Invocation&) { return Result<json::value>("special"); });
  special.server = "files";
  const auto engine = opened(EngineBuilder("").tool(special).tool(
      tool_of("where", [](const Invocation&) { return Result<json::value>("general"); })));
  Call call = call_of("where");
  call.server = "files";
  EXPECT_EQ(engine->call(call)->result.output, "special");
  call.server = "other";
  EXPECT_EQ(engine->call(call)->result.output, "general");
  const auto only_special = opened(EngineBuilder("").tool(special));
  EXPECT_EQ(only_special->call(call)->outcome.kind, Outcome::Kind::Blocked);
}

TEST(EngineTest, WhatIsNoCallIsAnErrorThatNamesTheFieldAndLeavesNoRecord) {
  const auto engine = opened(EngineBuilder("").tool(CountedTool("look", kLooks).tool()));
  Call call = call_of("");
  EXPECT_EQ(engine->call(call).error().where, "tool");
  call = call_of("look");
  call.session_id = std::string(513, 'x');
  const Result<Answer> refused = engine->call(call);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(refused.error().where, "session_id");
  EXPECT_TRUE(outcomes_of(*engine).empty());
}

// AU-46 (partly) AU-48 (partly) AU-51 (partly)
TEST(EngineTest, TheSameCallAgainIsAnsweredFromTheRecordAndAnotherUnderItsIdIsRefused) {
  const CountedTool act("act", kActs);
  const auto engine = opened(EngineBuilder("").tool(act.tool()).autonomy(Autonomy::ActAuto));
  EXPECT_EQ(engine->call(call_of("act", "t-1", {{"n", 1}}))->outcome.kind,
            Outcome::Kind::Completed);
  const Result<Answer> again = engine->call(call_of("act", "t-1", {{"n", 1}}));
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(again->result.output, "act ran");
  const Result<Answer> other = engine->call(call_of("act", "t-1", {{"n", 2}}));
  EXPECT_TRUE(other->outcome.text.starts_with("idempotency conflict:")) << other->outcome.text;
  EXPECT_EQ(act.runs(), 1);
  for (int i = 0; i < 2; ++i) (void)engine->call(call_of("act", "", {{"n", 1}}));
  EXPECT_EQ(act.runs(), 3) << "without an id nothing is the same call";
}

// EV-106 (partly) AU-17 (partly) AU-36
TEST(EngineTest, ACancelEndsTheWaitWithinASecondThoughTheToolGoesOn) {
  Latch latch;
  std::atomic<bool> told = false;
  auto engine = opened(EngineBuilder("").tool(tool_of("stubborn", [&](const Invocation& i) {
    latch.wait();
    told = i.stop_requested();
    return Result<json::value>("too late");
  })));
  std::stop_source stop;
  Steady::time_point asked;
  const std::jthread canceller([&] {
    latch.wait_until_entered();
    asked = Steady::now();
    stop.request_stop();
  });
  const Result<Answer> answer = engine->call(call_of("stubborn"), {.cancel = stop.get_token()});
  EXPECT_LT(Seconds(Steady::now() - asked).count(), 1.0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "cancelled");
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(answer->effect, EffectState::Unknown);
  EXPECT_EQ(engine->records()->front().effect_state, EffectState::Unknown);
  latch.open();
  engine.reset();
  EXPECT_TRUE(told) << "the function hears that nobody waits, and the engine waits for it";
}

// EV-106 (partly)
TEST(EngineTest, ACallThatIsCancelledBeforeItBeginsRunsNothing) {
  const CountedTool look("look", kLooks);
  const auto engine = opened(EngineBuilder("").tool(look.tool()));
  std::stop_source stop;
  stop.request_stop();
  const Result<Answer> answer = engine->call(call_of("look"), {.cancel = stop.get_token()});
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  EXPECT_EQ(answer->effect, EffectState::None);
  EXPECT_EQ(look.runs(), 0);
}

// EV-106 (partly) AU-17 (partly) AU-50 (partly)
TEST(EngineTest, TheTimeLimitEndsACallAndItsEffectIsUnknown) {
  Latch latch;
  const auto engine = opened(EngineBuilder("")
                                 .tool(tool_of(
                                     "slow",
                                     [&](const Invocation&) {
                                       latch.wait();
                                       return Result<json::value>("late");
                                     },
                                     kActs))
                                 .autonomy(Autonomy::ActAuto)
                                 .time_limit(std::chrono::milliseconds(10'000)));
  Call call = call_of("slow", "t-1");
  call.time_limit = std::chrono::milliseconds(50);
  const Steady::time_point begin = Steady::now();
  const Result<Answer> answer = engine->call(call);
  EXPECT_LT(Seconds(Steady::now() - begin).count(), 1.0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "timed out after 50 ms");
  EXPECT_EQ(answer->effect, EffectState::Unknown);
  const Result<Answer> again = engine->call(call);
  EXPECT_TRUE(again->outcome.text.starts_with("unknown outcome:")) << again->outcome.text;
  latch.open();
}

// Returns the bodies of the entries after the end of its call.
std::vector<json::value> late_results(const std::filesystem::path& data_folder) {
  std::vector<json::value> found;
  const auto store = store::SqliteStore::open(
      {.file = data_folder / "ledger.db", .mode = store::SqliteStore::Mode::ReadOnly});
  EXPECT_TRUE(store) << store.error().message;
  for (const Seen& seen : all_entries(**store)) {
    const json::value* const topic = seen.entry.as_object().if_contains("topic");
    if (topic != nullptr && *topic == "late_results") found.push_back(seen.body);
  }
  return found;
}

// PI-31
TEST(EngineTest, WhatAFunctionGivesAfterItsTimeIsOnRecordAndReachesNobody) {
  TempFolder folder;
  Latch latch;
  {
    const auto engine = opened(EngineBuilder(folder / "data")
                                   .tool(tool_of("slow",
                                                 [&](const Invocation&) {
                                                   latch.wait();
                                                   return Result<json::value>("late");
                                                 }))
                                   .time_limit(std::chrono::milliseconds(50)));
    EXPECT_EQ(engine->call(call_of("slow"))->result.output, "timed out after 50 ms");
    latch.open();
    const auto deadline = Steady::now() + std::chrono::seconds(20);
    while (late_results(folder / "data").empty() && Steady::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(outcomes_of(*engine), std::vector<std::string>{"completed"});
  }
  const std::vector<json::value> late = late_results(folder / "data");
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].at("record"), "late_result");
  EXPECT_EQ(late[0].at_pointer("/post_invocation/verdict"), "allow");
  EXPECT_EQ(late[0].at_pointer("/post_invocation/released/value"), "late");
}

TEST(EngineTest, ACallMayShortenTheTimeLimitOfThePlanAndNotLengthenIt) {
  Latch latch;
  const auto engine = opened(EngineBuilder("")
                                 .tool(tool_of("slow",
                                               [&](const Invocation&) {
                                                 latch.wait();
                                                 return Result<json::value>("late");
                                               }))
                                 .time_limit(std::chrono::milliseconds(50)));
  Call call = call_of("slow");
  call.time_limit = std::chrono::hours(1);
  EXPECT_EQ(engine->call(call)->result.output, "timed out after 50 ms");
  latch.open();
}

// AU-39 (partly) AU-42 (partly)
TEST(EngineTest, InShadowNothingThatActsIsRun) {
  const CountedTool act("act", kActs);
  const CountedTool look("look", kLooks);
  const auto engine =
      opened(EngineBuilder("").tool(act.tool()).tool(look.tool()).autonomy(Autonomy::Shadow));
  EXPECT_TRUE(engine->call(call_of("act"))->outcome.text.starts_with("shadow:"));
  EXPECT_EQ(engine->call(call_of("look"))->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(act.runs(), 0);
  EXPECT_EQ(look.runs(), 1);
}

// AU-92
TEST(EngineTest, EveryRecordHasAReceiptThatVerifiesWithTheKeyAndWithNoOther) {
  const CountedTool act("act", kActs);
  const auto engine =
      opened(EngineBuilder("").tool(act.tool()).approver([](const Question&) -> Result<Reply> {
        return Reply::approve(kPerson);
      }));
  for (const char* const id : {"t-1", "t-1", "t-2"}) (void)engine->call(call_of("act", id));
  (void)engine->call(call_of("unknown"));
  const auto records = engine->records();
  ASSERT_TRUE(records);
  EXPECT_EQ(records->size(), 6u) << "two were asked about first, and the last joined a question";
  const Result<ledger::VerifierKey> key = ledger::VerifierKey::parse(engine->verifier_key());
  ASSERT_TRUE(key) << engine->verifier_key();
  const auto stranger = opened(EngineBuilder("").tool(act.tool()));
  const Result<ledger::VerifierKey> other = ledger::VerifierKey::parse(stranger->verifier_key());
  ASSERT_TRUE(other);
  for (const AuditRecord& record : *records) {
    const Result<std::string> receipt = engine->receipt(record.sequence);
    ASSERT_TRUE(receipt);
    const ledger::Verification verified = ledger::verify_receipt(*receipt, {.key = *key});
    EXPECT_TRUE(verified.ok) << verified.step << ": " << verified.detail;
    EXPECT_EQ(verified.sequence, record.sequence);
    EXPECT_EQ(verified.kind, "tool_audit");
    EXPECT_FALSE(ledger::verify_receipt(*receipt, {.key = *other}).ok);
  }
  const Result<std::string> missing = engine->receipt(1'000'000);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
}

// EV-82 (partly) AU-9 (partly) AU-46 (partly)
TEST(EngineTest, AFolderThatIsOpenedAgainHasItsRecordsItsKeyAndItsAnswers) {
  const TempFolder folder;
  const CountedTool act("act", kActs);
  std::vector<AuditRecord> before;
  std::string key;
  {
    const auto engine =
        opened(EngineBuilder(folder / "data").tool(act.tool()).autonomy(Autonomy::ActAuto));
    (void)engine->call(call_of("act", "t-1"));
    before = *engine->records();
    key = engine->verifier_key();
  }
  const auto engine =
      opened(EngineBuilder(folder / "data").tool(act.tool()).autonomy(Autonomy::ActAuto));
  EXPECT_EQ(*engine->records(), before);
  EXPECT_EQ(engine->verifier_key(), key);
  EXPECT_EQ(engine->call(call_of("act", "t-1"))->outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(act.runs(), 1);
}

TEST(EngineTest, AFolderThatCannotBeMadeIsAnErrorAndNoEngine) {
  const TempFolder folder;
  std::ofstream(folder / "file") << "not a folder";
  const auto engine = EngineBuilder(folder / "file" / "data").open();
  ASSERT_FALSE(engine);
  EXPECT_FALSE(engine.error().message.empty());
}

TEST(EngineTest, AnEngineWithoutAFolderLeavesNothingBehind) {
  const TempFolder folder;
  const char* const before = getenv("TMPDIR");
  const std::string kept = before ? before : "/tmp";
  setenv("TMPDIR", folder.path().c_str(), 1);
  {
    const auto engine = opened(EngineBuilder("").tool(CountedTool("look", kLooks).tool()));
    (void)engine->call(call_of("look"));
    EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  }
  setenv("TMPDIR", kept.c_str(), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(EngineTest, EveryDurabilityGivesTheSameRecords) {
  for (const WriteIntents durability :
       {WriteIntents::Strict, WriteIntents::Effect, WriteIntents::Relaxed}) {
    const CountedTool act("act", kActs);
    const CountedTool look("look", kLooks);
    const auto engine = opened(EngineBuilder("")
                                   .tool(act.tool())
                                   .tool(look.tool())
                                   .autonomy(Autonomy::ActAuto)
                                   .durability(durability));
    for (const char* const tool : {"act", "look", "act"}) (void)engine->call(call_of(tool, tool));
    EXPECT_EQ(outcomes_of(*engine), (Strings{"completed", "completed", "cached"}));
  }
}

}  // namespace
}  // namespace sallyport::test
