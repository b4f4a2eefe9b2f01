// The life of an approval: used once, unused, overtaken by events, or left behind by a process that
// died; and calls that are similar to a waiting one.
#include <gtest/gtest.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <map>

#include "base/json_members.h"
#include "core/approval/approval_request.h"
#include "core/handoff/waiting_facts.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::FunctionGuard;
using test::Governed;
using test::run_now;
using test::text_at;

class ApprovalLifeTest : public testing::Test {
 protected:
  ApprovalLifeTest() { governed.plan.autonomy(Autonomy::ActWithApproval); }

  Result<void> say(const std::string& id, Reply reply) {
    return run_now(governed.governor().approvals().answer(id, std::move(reply)));
  }
  std::string state_of(const std::string& id) {
    return std::string(to_string((*governed.governor().approvals().state(id))->status));
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> names;
    for (const Draft& draft : governed.recorder.records()) names.push_back(draft.outcome);
    return names;
  }
  // A call of a process that dies while the call waits.
  std::string leave_behind() {
    std::string id;
    governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
      id = question.approval_id;
      return Reply::approve(question.agent_id);  // does not count
    });
    governed.recorder.refuse = [&](const std::vector<Draft>& drafts) -> std::optional<Error> {
      // Dead processes write nothing.
      for (const Draft& draft : drafts) {
        if (text_at(draft, "/record") == "approval_request") return std::nullopt;
      }
      return Error{ErrorCode::Unavailable, "dead"};
    };
    Call call = Governed::read_file();
    call.time_limit = std::chrono::milliseconds(20);
    (void)governed.call(call);
    governed.recorder.refuse = nullptr;
    governed.recorder.owed.clear();
    governed.approver = nullptr;
    governed.recorder.dead.insert(governed.recorder.instance);
    governed.recorder.instance = "another";
    governed.restart();
    return id;
  }
  std::vector<Fact> held() { return *governed.recorder.facts(kHeldCall); }

  Governed governed;
};

using Outcomes = std::vector<std::string>;

// AP-13 (partly)
TEST_F(ApprovalLifeTest, AQuestionNamesTheUserOfTheAgentIfThereIsOne) {
  const auto asked_for = [&](const std::string& user) {
    Call call = Governed::read_file();
    call.tool_call_id = "for " + user;
    call.setting.user = user;
    (void)governed.call(call, Caller{.holds = false});
    json::value named = "no question";
    for (const Draft& draft : governed.recorder.written) {
      if (text_at(draft, "/record") != "approval_request") continue;
      named = draft.body.contains("on_behalf_of") ? draft.body.at("on_behalf_of") : nullptr;
    }
    return named;
  };
  EXPECT_EQ(asked_for("user:zoe"), "user:zoe");
  EXPECT_EQ(asked_for(""), json::value());
}

// A person saw 12345678901234567000 and the tool got 12345678901234567890.
// AP-38 (partly)
TEST_F(ApprovalLifeTest, APersonSeesEveryDigitOfANumber) {
  json::value shown;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
    shown = question.input;
    return Reply::deny("user:ada", "no");
  });
  Call call = Governed::read_file();
  const std::string given = R"({"n":12345678901234567890,"part":0.10000000000000000055,"k":1.5})";
  call.input = parse_json(given)->value;
  call.raw_input = given;
  ASSERT_TRUE(governed.call(call));
  EXPECT_EQ(canonical_json(shown),
            R"({"k":1.5,"n":"12345678901234567890","part":"0.10000000000000000055"})");
}

// AP-7 AP-8 (partly)
TEST_F(ApprovalLifeTest, TheIntentNamesTheApprovalItUsesAndItsBinding) {
  Question asked;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
    asked = question;
    return Reply::approve("user:ada");
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  const Draft intent = governed.recorder.of(Kind::Intent).at(0);
  EXPECT_EQ(text_at(intent, "/request_id"), answer->approval_id);
  EXPECT_EQ(text_at(intent, "/binding"), asked.binding);
  EXPECT_EQ(asked.binding, binding_of(asked));
  EXPECT_EQ(text_at(governed.recorder.records().back(), "/binding"), "(absent)");
  EXPECT_TRUE(held().empty());
}

// AP-9
TEST_F(ApprovalLifeTest, AYesForACallThatIsDeniedMeanwhileBecomesInvalidated) {
  governed.approver = std::make_shared<FunctionApprover>([&](const Question&) {
    governed.change_plan(PlanBuilder()
                             .autonomy(Autonomy::ActWithApproval)
                             .guard(std::make_shared<FunctionGuard>(
                                 "g", [](const Call&) { return Verdict::deny("closed"); })));
    return Reply::approve("user:ada");
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("closed"));
  EXPECT_EQ(state_of(answer->approval_id), "invalidated");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// The commit of the request failed late or in doubt, and its reservation once stayed.
// CG-50
TEST_F(ApprovalLifeTest, ARecordOfAQuestionThatMayBeOnRecordReleasesWhatItReserved) {
  governed.recorder.refuse = [](const std::vector<Draft>& drafts) -> std::optional<Error> {
    for (const Draft& draft : drafts) {
      if (text_at(draft, "/record") == "approval_request") {
        return Error{ErrorCode::Unavailable, "the commit is in doubt"};
      }
    }
    return std::nullopt;
  };
  EXPECT_FALSE(governed.call(Governed::read_file()));
  const auto& owed = governed.recorder.owed;
  EXPECT_TRUE(std::ranges::any_of(owed, [](const Draft& draft) { return !draft.changes.empty(); }));
}

// AP-19
TEST_F(ApprovalLifeTest, AYesThatNobodyUsedInTimeExpires) {
  test::TestClock clock;
  governed.clock = &clock;
  governed.plan.approvals({.use_within = std::chrono::seconds(30)});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:ada")));
  clock.advance(std::chrono::seconds(29));
  ASSERT_TRUE(run_now(governed.governor().approvals().expire_all()));
  EXPECT_EQ(state_of(asked->approval_id), "approved");
  clock.advance(std::chrono::seconds(1));
  Call call = Governed::read_file();
  call.call_id = asked->call_id;
  call.trace_id = "t";
  const Result<Answer> late = run_now(governed.governor().resume(
      {.call = call, .approval_id = asked->approval_id}, governed.upstream));
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->outcome, Outcome::blocked("approval_expired"));
  EXPECT_EQ(state_of(asked->approval_id), "expired");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-20
TEST_F(ApprovalLifeTest, ADeadlineThatPassedWhileNothingRanExpiresAtStart) {
  const std::string id = leave_behind();
  EXPECT_EQ(state_of(id), "pending");
  ASSERT_TRUE(run_now(governed.governor().start()));
  EXPECT_EQ(state_of(id), "expired");
}

// AP-20 AP-21 (partly)
TEST_F(ApprovalLifeTest, ACallWhoseProcessDiedGetsItsEndOnceItCannotRunAnyMore) {
  const std::string id = leave_behind();
  ASSERT_EQ(held().size(), 1u);
  EXPECT_EQ(outcomes(), Outcomes{"requires_confirmation"});
  for (int starts = 0; starts < 2; ++starts) {
    ASSERT_TRUE(run_now(governed.governor().start()));
    EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "blocked"}));
  }
  const Draft end = governed.recorder.records().back();
  EXPECT_EQ(text_at(end, "/outcome/reason"), "approval_expired");
  EXPECT_EQ(text_at(end, "/terminal"), "true");
  EXPECT_EQ(text_at(end, "/approval_id"), id);
  EXPECT_TRUE(held().empty());
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-36 AU-24
TEST_F(ApprovalLifeTest, AnIdenticalCallAttachesAndBothGetTheOneResult) {
  boost::asio::io_context loop;
  std::vector<Result<Answer>> answers;
  ASSERT_TRUE(governed.build());
  const auto start = [&](const char* tool_call_id) {
    Call call = Governed::read_file();
    call.tool_call_id = tool_call_id;
    boost::asio::co_spawn(loop, governed.governor().run(call, governed.upstream),
                          [&](const std::exception_ptr&, Result<Answer> answer) {
                            answers.push_back(std::move(answer));
                          });
  };
  start("toolu_1");
  start("toolu_2");
  while (governed.recorder.of(Kind::Approval).size() < 2) loop.run_one();
  const auto about = governed.recorder.of(Kind::Approval);
  EXPECT_EQ(text_at(about[0], "/record"), "approval_request");
  EXPECT_EQ(text_at(about[1], "/record"), "approval_joined");
  const std::string id = text_at(about[0], "/request_id");
  EXPECT_EQ(text_at(about[1], "/request_id"), id);
  EXPECT_NE(about[1].subject->call_id, about[0].subject->call_id);
  EXPECT_EQ(outcomes(), Outcomes{"requires_confirmation"});
  boost::asio::co_spawn(
      loop, governed.governor().approvals().answer(id, Reply::approve("user:ada")),
      [](const std::exception_ptr&, const Result<void>& said) { EXPECT_TRUE(said); });
  loop.run();
  ASSERT_EQ(answers.size(), 2u);
  for (const Result<Answer>& answer : answers) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->result.success);
    EXPECT_EQ(answer->approval_id, id);
    EXPECT_EQ(answer->result.data, answers[0]->result.data);
  }
  EXPECT_NE(answers[0]->call_id, answers[1]->call_id);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(governed.recorder.of(Kind::Intent).size(), 1u);
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "completed", "cached"}));
  EXPECT_TRUE(held().empty());
}

// A call that waited for the result of an identical call once ignored its own cancellation.
TEST_F(ApprovalLifeTest, ACancelEndsTheWaitForTheResultOfAnIdenticalCall) {
  boost::asio::io_context loop;
  boost::asio::steady_timer tool(loop, std::chrono::hours(1));
  governed.plan.time_limit(std::chrono::seconds(2));
  governed.upstream =
      std::make_shared<test::FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
        boost::system::error_code ignored;
        co_await tool.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
        co_return Envelope::of("done");
      });
  ASSERT_TRUE(governed.build());
  std::vector<Result<Answer>> answers;
  std::map<std::string, std::stop_source> stops;
  for (const char* const id : {"toolu_1", "toolu_2"}) {
    Call call = Governed::read_file();
    call.tool_call_id = id;
    boost::asio::co_spawn(
        loop,
        governed.governor().run(call, governed.upstream, Caller{.cancel = stops[id].get_token()}),
        [&](const std::exception_ptr&, Result<Answer> answer) {
          answers.push_back(std::move(answer));
        });
  }
  while (governed.recorder.of(Kind::Approval).size() < 2) loop.run_one();
  const std::string approval = text_at(governed.recorder.of(Kind::Approval)[0], "/request_id");
  boost::asio::co_spawn(
      loop, governed.governor().approvals().answer(approval, Reply::approve("user:ada")),
      [](const std::exception_ptr&, const Result<void>& said) { EXPECT_TRUE(said); });
  while (governed.upstream->calls.empty()) loop.run_one();
  const bool first_runs = governed.upstream->calls.front().tool_call_id == "toolu_1";
  stops[first_runs ? "toolu_2" : "toolu_1"].request_stop();
  while (answers.empty()) loop.run_one();
  ASSERT_TRUE(answers.front());
  EXPECT_EQ(answers.front()->outcome, Outcome::blocked("cancelled"));
  tool.cancel();
  loop.run();
  ASSERT_EQ(answers.size(), 2u);
  ASSERT_TRUE(answers.back());
  EXPECT_TRUE(answers.back()->result.success);
}

// AP-36: a question that can no longer be answered gives no call an answer.
TEST_F(ApprovalLifeTest, ACallJoinsTheQuestionOfAnIdenticalOneUntilItsDeadlineAndNotAtIt) {
  test::TestClock clock;
  governed.clock = &clock;
  governed.plan.approval_time(std::chrono::seconds(60));
  const auto asked_by = [&](const std::string& tool_call_id) {
    Call call = Governed::read_file();
    call.tool_call_id = tool_call_id;
    const Result<Answer> answer = governed.call(call, Caller{.leaves = true});
    EXPECT_TRUE(answer && answer->outcome.kind == Outcome::Kind::RequiresConfirmation);
    return answer->approval_id;
  };
  const std::string first = asked_by("toolu_1");
  clock.advance(std::chrono::microseconds(59'999'999));
  EXPECT_EQ(asked_by("toolu_2"), first);
  clock.advance(std::chrono::microseconds(1));
  EXPECT_NE(asked_by("toolu_3"), first);
}

// AP-36: the answer is for the joined question, whose id is that of another call.
TEST_F(ApprovalLifeTest, ACallThatJoinedAQuestionContinuesWithItsAnswer) {
  std::vector<Call> calls;
  std::vector<std::string> asked;
  for (const char* const id : {"toolu_1", "toolu_2"}) {
    Call call = Governed::read_file();
    call.tool_call_id = id;
    const Result<Answer> answer = governed.call(call, Caller{.leaves = true});
    ASSERT_TRUE(answer);
    call.call_id = answer->call_id;
    calls.push_back(std::move(call));
    asked.push_back(answer->approval_id);
  }
  EXPECT_EQ(asked[0], asked[1]);
  const auto resumed = [&](Call call, const std::string& approval) {
    return run_now(governed.governor().resume({.call = std::move(call), .approval_id = approval},
                                              governed.upstream));
  };
  EXPECT_EQ(resumed(calls[1], asked[1]).error().cause, "approval_pending");
  ASSERT_TRUE(say(asked[0], Reply::deny("user:ada", "not today")));
  const Result<Answer> joined = resumed(calls[1], asked[1]);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->outcome, Outcome::blocked("not today"));
  Call stranger = calls[1];
  stranger.call_id = "another";
  EXPECT_EQ(resumed(stranger, asked[1]).error().cause, "tool_call_mismatch");
  EXPECT_EQ(resumed(calls[0], "apr_none").error().cause, "tool_call_mismatch");
}

// AP-9: the person said yes to this call, and nothing is wrong with it.
TEST_F(ApprovalLifeTest, ACancelAfterTheYesLeavesTheApprovalAsItIs) {
  governed.plan.guard(
      std::make_shared<FunctionGuard>("any", [](const Call&) { return Verdict::allow(); }));
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:ada")));
  Call call = Governed::read_file();
  call.call_id = asked->call_id;
  std::stop_source stop;
  stop.request_stop();
  const Result<Answer> ended =
      run_now(governed.governor().resume({.call = call, .approval_id = asked->approval_id},
                                         governed.upstream, Caller{.cancel = stop.get_token()}));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_EQ(state_of(asked->approval_id), "approved");
}

// A program that answers for people, and never does.
class SilentApprover final : public Approver {
 public:
  Task<Reply> answer(Question) const override {
    boost::asio::steady_timer forever(co_await boost::asio::this_coro::executor,
                                      std::chrono::hours(1));
    boost::system::error_code ignored;
    co_await forever.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    co_return Reply::approve("program");
  }
};

TEST_F(ApprovalLifeTest, ACallThatIsCancelledWhileAProgramThinksIsDeniedByNobody) {
  governed.approver = std::make_shared<SilentApprover>();
  ASSERT_TRUE(governed.build());
  boost::asio::io_context loop;
  std::stop_source stop;
  std::optional<Result<Answer>> ended;
  boost::asio::co_spawn(loop,
                        governed.governor().run(Governed::read_file(), governed.upstream,
                                                Caller{.cancel = stop.get_token()}),
                        [&](const std::exception_ptr&, Result<Answer> answer) {
                          ended = std::move(answer);
                          loop.stop();
                        });
  while (governed.recorder.of(Kind::Approval).empty()) loop.run_one();
  loop.run_for(std::chrono::milliseconds(5));
  ASSERT_FALSE(ended);
  stop.request_stop();
  loop.run_for(std::chrono::seconds(10));
  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ((*ended)->outcome, Outcome::blocked("cancelled"));
  EXPECT_EQ(state_of((*ended)->approval_id), "cancelled");
}

TEST_F(ApprovalLifeTest, ACallThatAskedNobodyNamesNoBinding) {
  governed.change_plan(PlanBuilder().autonomy(Autonomy::ActAuto));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  const Draft intent = governed.recorder.of(Kind::Intent).at(0);
  EXPECT_EQ(text_at(intent, "/binding"), "(absent)");
  EXPECT_EQ(text_at(intent, "/request_id"), "(absent)");
}

// AP-37
TEST_F(ApprovalLifeTest, AnotherCallAndTheSameOneAfterUseAskAnew) {
  std::vector<std::string> asked;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
    asked.push_back(question.approval_id);
    return Reply::approve("user:ada");
  });
  for (int i = 0; i < 2; ++i) {
    Call call = Governed::read_file();
    call.tool_call_id = "toolu_" + std::to_string(i);
    EXPECT_TRUE(governed.call(call)->result.success);
  }
  Call other = Governed::read_file();
  other.tool_call_id = "toolu_9";
  other.session_id = "s-2";
  EXPECT_TRUE(governed.call(other)->result.success);
  EXPECT_EQ(asked.size(), 3u);
  EXPECT_EQ(governed.upstream->calls.size(), 3u);
}

// AP-22
TEST_F(ApprovalLifeTest, AProposalRunsOnceWithoutTheAgentWhenItIsApprovedLater) {
  governed.plan.autonomy(Autonomy::Suggest);
  const Result<Answer> proposed = governed.call(Governed::read_file());
  ASSERT_TRUE(proposed);
  EXPECT_EQ(proposed->outcome.kind, Outcome::Kind::RequiresConfirmation);
  const auto tool = [&](const Call&) { return governed.upstream; };
  EXPECT_TRUE(run_now(governed.governor().run_answered(tool))->empty());
  EXPECT_TRUE(governed.upstream->calls.empty());
  governed.restart();
  ASSERT_TRUE(say(proposed->approval_id, Reply::approve("user:ada")));
  const auto ran = run_now(governed.governor().run_answered(tool));
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_EQ(ran->size(), 1u);
  EXPECT_TRUE(ran->front().result.success);
  EXPECT_EQ(ran->front().call_id, proposed->call_id);
  EXPECT_TRUE(run_now(governed.governor().run_answered(tool))->empty());
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(state_of(proposed->approval_id), "used");
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "completed"}));
  EXPECT_TRUE(governed.recorder.facts(kProposedCall)->empty());
}

// AP-22 (partly) AP-21 (partly)
TEST_F(ApprovalLifeTest, AProposalThatIsRefusedEndsAndNeverRuns) {
  governed.plan.autonomy(Autonomy::Suggest);
  const Result<Answer> proposed = governed.call(Governed::read_file());
  ASSERT_TRUE(proposed);
  ASSERT_TRUE(say(proposed->approval_id, Reply::deny("user:ada", "no")));
  const auto ended =
      run_now(governed.governor().run_answered([&](const Call&) { return governed.upstream; }));
  ASSERT_TRUE(ended);
  ASSERT_EQ(ended->size(), 1u);
  EXPECT_EQ(ended->front().outcome, Outcome::blocked("no"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

class OnlyAda final : public ReviewerBook {
 public:
  Result<void> check(const std::string& reviewer, std::string_view statement,
                     std::string_view signature) const override {
    if (reviewer == "user:ada" && signature == "signed " + std::string(statement)) return {};
    return fail(ErrorCode::Unauthenticated, "not signed by ada");
  }
  json::value dump() const override { return "ada"; }
};

// AP-10 AP-16 (partly) AP-44: a process that can write to the ledger still cannot sign, and its
// entry leaves the request to the real approvers.
TEST_F(ApprovalLifeTest, WhereKeysAreRegisteredAnAnswerCountsOnlyWithItsSignature) {
  governed.plan.approvals({.people = std::make_shared<OnlyAda>()});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  const std::string& id = asked->approval_id;
  const auto reply = [&](bool yes, bool sign) {
    Reply said = yes ? Reply::approve("user:ada") : Reply::deny("user:ada", "no");
    said.responded_at = "2026-11-15T02:02:00Z";
    const ResponseStatement statement{
        id, "user:ada", text_or_empty(*stored_request(governed.recorder, id), "binding"),
        said.responded_at, yes};
    said.signature = sign ? "signed " + statement.text() : "signed otherwise";
    return said;
  };
  for (const bool yes : {false, true}) {
    const Result<void> forged = say(id, reply(yes, false));
    ASSERT_FALSE(forged);
    EXPECT_EQ(forged.error().code, ErrorCode::Unauthenticated);
    EXPECT_EQ(state_of(id), "pending");
  }
  ASSERT_TRUE(say(id, reply(true, true)));
  Call call = Governed::read_file();
  call.call_id = asked->call_id;
  call.trace_id = "t";
  const Result<Answer> ended =
      run_now(governed.governor().resume({.call = call, .approval_id = id}, governed.upstream));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(ended->result.success);
}

// AP-44: another process once accepted a forged answer, and its decision blocked the approver.
TEST_F(ApprovalLifeTest, ADecisionThatRestsOnForgedAnswersIsNone) {
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  const std::string& id = asked->approval_id;
  for (const bool yes : {false, true}) {
    ASSERT_TRUE(say(id, yes ? Reply::approve("user:ada") : Reply::deny("user:ada", "no")));
    EXPECT_EQ(state_of(id), yes ? "approved" : "denied");
    governed.change_plan(PlanBuilder()
                             .autonomy(Autonomy::ActWithApproval)
                             .approvals({.people = std::make_shared<OnlyAda>()}));
    Call call = Governed::read_file();
    call.call_id = asked->call_id;
    call.trace_id = "t";
    const Result<Answer> ended =
        run_now(governed.governor().resume({.call = call, .approval_id = id}, governed.upstream));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cause, "approval_pending");
    EXPECT_EQ(state_of(id), "pending");
    EXPECT_TRUE(governed.upstream->calls.empty());
    governed.change_plan(PlanBuilder().autonomy(Autonomy::ActWithApproval));
  }
}

class OneToken final : public ReviewerBook {
 public:
  Result<void> check(const std::string&, std::string_view, std::string_view) const override {
    return {};
  }
  std::string credential(const std::string&) const override { return "token:1"; }
  json::value dump() const override { return "one"; }
};

// AP-14: one token under two names once satisfied dual control.
TEST_F(ApprovalLifeTest, OnePersonUnderTwoNamesIsNotTwo) {
  governed.plan.approvals({.quorum = 2, .people = std::make_shared<OneToken>()});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:ada")));
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:bo")));
  Call call = Governed::read_file();
  call.call_id = asked->call_id;
  call.trace_id = "t";
  const Result<Answer> ended = run_now(governed.governor().resume(
      {.call = call, .approval_id = asked->approval_id}, governed.upstream));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->outcome, Outcome::blocked("approval_invalid: too few people said yes"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-16
TEST_F(ApprovalLifeTest, AnAnswerWithoutASignatureIsProvedByItsEntry) {
  governed.plan.approvals({.people = std::make_shared<OneToken>()});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:ada")));
  const auto state = governed.governor().approvals().state(asked->approval_id);
  ASSERT_TRUE(state && *state);
  ASSERT_EQ((*state)->votes.size(), 1u);
  const Draft entry = governed.recorder.written.at((*state)->votes[0].sequence);
  EXPECT_EQ(text_at(entry, "/record"), "approval_response");
  EXPECT_EQ(text_at(entry, "/reviewer"), "user:ada");
  EXPECT_EQ(text_at(entry, "/known_by"), "token");
  EXPECT_EQ(text_at(entry, "/signature"), "(absent)");
}

TEST_F(ApprovalLifeTest, WherePeopleAreNotRegisteredNobodyIsKnownByAnything) {
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  ASSERT_TRUE(say(asked->approval_id, Reply::deny("user:ada", "no")));
  std::size_t responses = 0;
  for (const Draft& draft : governed.recorder.of(Kind::Approval)) {
    if (text_at(draft, "/record") != "approval_response") continue;
    ++responses;
    EXPECT_EQ(text_at(draft, "/known_by"), "(absent)");
  }
  EXPECT_EQ(responses, 1u);
}

}  // namespace
}  // namespace sallyport::core
