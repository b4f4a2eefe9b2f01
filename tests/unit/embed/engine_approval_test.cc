// Calls that need approval, tools that prepare first, and guards' later messages to a person.
#include <thread>

#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;

EngineBuilder::Approver replies(Reply reply) {
  return [reply = std::move(reply)](const Question&) -> Result<Reply> { return reply; };
}

// AU-39 (partly) AU-24 (partly) AU-42 (partly)
TEST(EngineApprovalTest, AnApproverSeesWhatWillRunAndItsYesRunsItOnce) {
  Classification named = kActs;
  named.display_name = "Send money";
  const CountedTool act("act", named);
  Question asked;
  const auto engine = opened(
      EngineBuilder("").tool(act.tool()).approver([&](const Question& question) -> Result<Reply> {
        asked = question;
        return Reply::approve(kPerson);
      }));
  const Result<Answer> answer = engine->call(call_of("act", "t-1", {{"n", 1}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(act.runs(), 1);
  EXPECT_EQ(asked.description, "Confirm Send money?");
  EXPECT_EQ(asked.input, json::value({{"n", 1}}));
  EXPECT_EQ(asked.approval_id, answer->approval_id);
  EXPECT_EQ(asked.call_id, answer->call_id);
  EXPECT_EQ(asked.policy_hash, engine->policy_hash());
  EXPECT_EQ(outcomes_of(*engine, {.call_id = answer->call_id}),
            (Strings{"requires_confirmation", "completed"}));
}

TEST(EngineApprovalTest, ANoAnErrorAndAnAnswerFromNobodyRunNothing) {
  using Case = std::pair<EngineBuilder::Approver, std::string>;
  for (const auto& [approver, reason] :
       {Case(replies(Reply::deny(kPerson, "too risky")), "too risky"),
        Case(replies(Reply::deny(kPerson)), "rejected"),
        Case([](const Question&)
                 -> Result<Reply> { return fail(ErrorCode::Unavailable, "nobody is in"); },
             "nobody is in"),
        Case(replies(Reply::approve("")), "approval_expired"),
        Case(replies(Reply::approve(kAgent)), "approval_expired")}) {
    const CountedTool act("act", kActs);
    const auto engine = opened(EngineBuilder("")
                                   .tool(act.tool())
                                   .approver(approver)
                                   .approval_time(std::chrono::seconds(1)));
    const Result<Answer> answer = engine->call(call_of("act"));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
    EXPECT_EQ(answer->outcome.text, reason);
    EXPECT_EQ(act.runs(), 0);
  }
}

TEST(EngineApprovalTest, AnApproverThatThrowsIsARefusalAndItsTextReachesNobody) {
  const CountedTool act("act", kActs);
  const auto engine =
      opened(EngineBuilder("").tool(act.tool()).approver([](const Question&) -> Result<Reply> {
        throw std::runtime_error("secret");
      }));
  const Result<Answer> answer = engine->call(call_of("act"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(answer->outcome.text.find("secret"), std::string::npos);
  EXPECT_EQ(act.runs(), 0);
}

// EV-89 (partly) EV-106 (partly)
TEST(EngineApprovalTest, AnApproverThatTakesItsTimeDoesNotKeepACancelledCall) {
  const CountedTool act("act", kActs);
  std::atomic<bool> done = false;
  std::stop_source stop;
  const auto engine =
      opened(EngineBuilder("").tool(act.tool()).approver([&](const Question&) -> Result<Reply> {
        stop.request_stop();
        while (!done) std::this_thread::yield();
        return Reply::approve(kPerson);
      }));
  const Result<Answer> answer = engine->call(call_of("act"), {.cancel = stop.get_token()});
  done = true;
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("cancelled"));
  EXPECT_EQ(act.runs(), 0);
}

TEST(EngineApprovalTest, WithoutAnApproverACallWaitsForTheAnswerOfAPerson) {
  const CountedTool act("act", kActs);
  const auto engine = opened(EngineBuilder("").tool(act.tool()));
  std::string approval_id;
  const std::jthread person([&] {
    while (approval_id.empty()) {
      const auto waiting = engine->records({.outcome = "requires_confirmation"});
      if (waiting && !waiting->empty()) approval_id = waiting->front().approval_id.value_or("");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(act.runs(), 0);
    EXPECT_TRUE(engine->answer(approval_id, Reply::approve(kPerson)));
  });
  const Result<Answer> answer = engine->call(call_of("act"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(act.runs(), 1);
}

// AU-73 (partly) EV-89 (partly)
TEST(EngineApprovalTest, SilenceIsARefusalAndALaterAnswerIsRefused) {
  const CountedTool act("act", kActs);
  const auto engine =
      opened(EngineBuilder("").tool(act.tool()).approval_time(std::chrono::seconds(1)));
  const Result<Answer> answer = engine->call(call_of("act"));
  EXPECT_EQ(answer->outcome, Outcome::blocked("approval_expired"));
  const Result<void> late = engine->answer(answer->approval_id, Reply::approve(kPerson));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Conflict);
  EXPECT_EQ(act.runs(), 0);
}

// EV-89 (partly)
TEST(EngineApprovalTest, ACancelEndsTheWaitForAPerson) {
  const CountedTool act("act", kActs);
  const auto engine = opened(EngineBuilder("").tool(act.tool()));
  std::stop_source stop;
  const std::jthread canceller([&] {
    while (outcomes_of(*engine).empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stop.request_stop();
  });
  const Result<Answer> answer = engine->call(call_of("act"), {.cancel = stop.get_token()});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("cancelled"));
  EXPECT_FALSE(engine->answer(answer->approval_id, Reply::approve(kPerson)));
  EXPECT_EQ(act.runs(), 0);
}

// AU-75 (partly) AU-33 (partly) AP-13 (partly)
TEST(EngineApprovalTest, ACallThatDoesNotHoldSaysThatItWaitsAndOneOfSeveralAnswersCounts) {
  const CountedTool act("act", kActs);
  const auto engine = opened(EngineBuilder("").tool(act.tool()));
  const Result<Answer> answer = engine->call(call_of("act"), {.hold = false});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_EQ(engine->records()->front().terminal, false);
  for (const char* const who : {"", kAgent}) {
    const Result<void> nobody = engine->answer(answer->approval_id, Reply::approve(who));
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, ErrorCode::Unauthenticated);
  }
  EXPECT_TRUE(engine->answer(answer->approval_id, Reply::deny(kPerson, "no")));
  const Result<void> second = engine->answer(answer->approval_id, Reply::approve("user:eve"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Conflict);
  EXPECT_EQ(second.error().cause, "denied");
  const Result<void> unknown = engine->answer("apr-none", Reply::approve(kPerson));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
}

// A tool that prepares an operation; it counts its previews, executions and cancellations.
struct Transfer {
  std::atomic<int> executed = 0;
  std::atomic<int> called_off = 0;
  std::uint64_t revision = 1;
  std::optional<std::string> expires_at;

  Tool tool() {
    Tool made = tool_of(
        "transfer",
        [this](const Invocation& i) -> Result<json::value> {
          if (i.call().input.at("revision").to_number<std::uint64_t>() != revision) {
            return other_revision("the rate has changed");
          }
          ++executed;
          return json::value("sent " + std::string(i.call().input.at("operation_id").as_string()));
        },
        kActs);
    made.prepare = [this](const Call& call) -> Result<Prepared> {
      if (call.input.as_object().empty()) return fail(ErrorCode::InvalidInput, "no amount");
      return Prepared{"op-7", revision, {{"fee", 2}}, expires_at};
    };
    made.cancel = [this](const std::string&) { ++called_off; };
    return made;
  }
};

// AU-61 (partly) AU-62 (partly) AU-63 (partly) AU-67 (partly)
TEST(EngineApprovalTest, APreparedToolShowsWhatItWouldDoAndRunsExactlyThat) {
  Transfer transfer;
  std::vector<json::value> guarded;
  Question asked;
  const auto engine = opened(EngineBuilder("")
                                 .tool(transfer.tool())
                                 .guard("sees",
                                        [&](const Call& call, const GuardView&) -> Result<Verdict> {
                                          guarded.push_back(call.input);
                                          return Verdict::allow();
                                        })
                                 .approver([&](const Question& question) -> Result<Reply> {
                                   asked = question;
                                   return Reply::approve(kPerson);
                                 }));
  const json::value requested{{"amount", 40}};
  const Result<Answer> answer = engine->call(call_of("transfer", "t-1", requested));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "sent op-7");
  ASSERT_TRUE(asked.prepared);
  EXPECT_EQ(asked.prepared->snapshot, json::value({{"fee", 2}}));
  const json::value effective = effective_input(requested, *asked.prepared);
  EXPECT_EQ(asked.input, effective);
  ASSERT_GE(guarded.size(), 2u);
  EXPECT_EQ(guarded.front(), requested);
  EXPECT_EQ(guarded.back(), effective);
  EXPECT_EQ(engine->records({.terminal = true})->front().effective_input, effective);
  EXPECT_EQ(transfer.called_off, 0);
}

// AU-66 (partly)
TEST(EngineApprovalTest, ARejectedPreparationIsCalledOffOnce) {
  Transfer transfer;
  const auto engine =
      opened(EngineBuilder("").tool(transfer.tool()).approver(replies(Reply::deny(kPerson, "no"))));
  const Result<Answer> answer = engine->call(call_of("transfer", "", {{"amount", 40}}));
  EXPECT_EQ(answer->outcome, Outcome::blocked("no"));
  EXPECT_EQ(transfer.executed, 0);
  EXPECT_EQ(transfer.called_off, 1);
}

// AU-64 (partly) AU-67 (partly) AU-96 (partly)
TEST(EngineApprovalTest, APreparationThatIsInvalidExpiredOrOvertakenInvalidatesTheCall) {
  Transfer transfer;
  const auto engine = opened(
      EngineBuilder("").tool(transfer.tool()).approver([&](const Question&) -> Result<Reply> {
        ++transfer.revision;
        return Reply::approve(kPerson);
      }));
  const json::value amount{{"amount", 40}};
  EXPECT_EQ(engine->call(call_of("transfer"))->outcome, Outcome::invalidated("no amount"));
  const Result<Answer> overtaken = engine->call(call_of("transfer", "", amount));
  EXPECT_EQ(overtaken->outcome, Outcome::invalidated("the rate has changed"));
  EXPECT_EQ(overtaken->effect, EffectState::None);
  for (const char* const time : {"2001-01-01T00:00:00Z", "soon"}) {
    transfer.expires_at = time;
    const Result<Answer> expired = engine->call(call_of("transfer", "", amount));
    EXPECT_EQ(expired->outcome.kind, Outcome::Kind::Invalidated);
    EXPECT_NE(expired->outcome.text.find(time), std::string::npos) << expired->outcome.text;
  }
  EXPECT_EQ(transfer.executed, 0);
}

EngineBuilder::Guard escalates(const std::string& message) {
  return
      [=](const Call&, const GuardView&) -> Result<Verdict> { return Verdict::escalate(message); };
}

// PI-80 (partly) PI-81 (partly) PI-82 (partly) PI-83 (partly)
TEST(EngineApprovalTest, AnEscalationIsListedUntilAPersonSettlesItAlsoAfterARestart) {
  const TempFolder folder;
  const CountedTool look("look", kLooks);
  const auto open = [&] {
    return opened(
        EngineBuilder(folder / "data").tool(look.tool()).guard("watch", escalates("look at this")));
  };
  std::string first_call;
  std::vector<EscalationItem> before;
  {
    const auto engine = open();
    first_call = engine->call(call_of("look"))->call_id;
    EXPECT_TRUE(engine->call(call_of("look"))->result.success) << "it goes on";
    before = *engine->escalations();
  }
  ASSERT_EQ(before.size(), 1u) << "one item for the same message";
  EXPECT_EQ(before[0].count, 2u);
  EXPECT_EQ(before[0].call_id, first_call);
  EXPECT_EQ(before[0].tool, "look");
  EXPECT_EQ(before[0].agent_id, kAgent);
  EXPECT_EQ(before[0].guard, "watch");
  EXPECT_EQ(before[0].message, "look at this");
  const auto engine = open();
  EXPECT_EQ(*engine->escalations(), before);
  const std::vector<AuditRecord> released = *engine->records();
  ASSERT_TRUE(engine->settle_escalation(before[0].id, true, kPerson, "seen"));
  EXPECT_TRUE(engine->escalations()->empty());
  EXPECT_EQ(*engine->records(), released);
  const Result<void> again = engine->settle_escalation(before[0].id, false, kPerson);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::NotFound);
}

// PI-83 (partly) PI-7 (partly)
TEST(EngineApprovalTest, EscalationsOfResultsAndOtherMessagesHaveItemsOfTheirOwn) {
  const auto engine = opened(
      EngineBuilder("")
          .tool(CountedTool("look", kLooks).tool())
          .guard("watch", escalates("before"))
          .result_guard("after", [](const Envelope&, const ResultContext&) -> Result<Verdict> {
            return Verdict::escalate("after");
          }));
  Call call = call_of("look");
  (void)engine->call(call);
  call.session_id = "s-2";
  (void)engine->call(call);
  EXPECT_EQ(engine->escalations()->size(), 4u);
  const auto items = engine->escalations();
  for (const EscalationItem& item : *items) EXPECT_EQ(item.count, 1u);
}

}  // namespace
}  // namespace sallyport::test
