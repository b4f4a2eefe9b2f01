#include "core/approval/escalations.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/call/governor.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FakeUpstream;
using test::FunctionGuard;
using test::FunctionResultGuard;
using test::Governed;
using Texts = std::vector<std::string>;

class EscalationsTest : public testing::Test {
 protected:
  EscalationsTest() { governed.clock = &clock; }

  void escalates(std::string guard, std::string message) {
    governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
        std::move(guard),
        [message](const Envelope&, const ResultContext&) { return Verdict::escalate(message); }));
  }
  Result<Answer> call(std::string session = "s-1") {
    Call asked = Governed::read_file();
    asked.session_id = std::move(session);
    asked.tool_call_id = "toolu_" + std::to_string(++calls_);
    return governed.call(asked);
  }
  Texts ids() const {
    const json::object post =
        governed.recorder.records().back().body.at("post_invocation").as_object();
    Texts texts;
    for (const json::value& id : post.at("escalation_ids").as_array()) {
      texts.emplace_back(id.as_string());
    }
    return texts;
  }
  std::vector<EscalationItem> waiting() {
    auto items = governed.governor().escalations().waiting();
    EXPECT_TRUE(items);
    return items ? *items : std::vector<EscalationItem>{};
  }
  Result<void> settle(const std::string& id, bool accepted, std::string note = {}) {
    return test::run_now(
        governed.governor().escalations().settle(id, accepted, "user:ada", std::move(note)));
  }

  test::TestClock clock;
  Governed governed;

 private:
  int calls_ = 0;
};

// PI-7 PI-80
TEST_F(EscalationsTest, EachMessageOpensAnItemInTheCommitOfItsRecord) {
  escalates("pii", "an address was seen");
  escalates("size", "large");
  std::size_t commits_before = 0;
  governed.upstream = std::make_shared<FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
    commits_before = governed.recorder.commits;
    co_return Envelope::of("hello");
  });
  const Result<Answer> answer = call();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "hello");
  EXPECT_EQ(governed.recorder.commits, commits_before + 1);
  const std::vector<Draft> items = governed.recorder.of(Kind::Approval);
  ASSERT_EQ(items.size(), 2u);
  ASSERT_EQ(ids().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(items[i].body.at("kind"), "escalation");
    EXPECT_EQ(items[i].body.at("state"), "pending");
    EXPECT_EQ(items[i].body.at("request_id"), json::value(ids()[i]));
    EXPECT_EQ(items[i].subject->call_id, answer->call_id);
  }
  EXPECT_NE(ids()[0], ids()[1]);
}

// PI-80
TEST_F(EscalationsTest, AGuardBeforeTheCallOpensAnItemToo) {
  governed.plan.guard(std::make_shared<FunctionGuard>(
      "odd-hours", [](const Call&) { return Verdict::escalate("it is night"); }));
  ASSERT_TRUE(call()->result.success);
  const auto items = waiting();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].guard, "odd-hours");
  EXPECT_EQ(items[0].message, "it is night");
}

// Each progress message opened the same item again, and its text was stored as the guard wrote it,
// so the result of the call opened a second item.
// PI-83 PI-88
TEST_F(EscalationsTest, EqualMessagesOfOneCallShareOneItem) {
  escalates("pii", "an address\x1b was seen");
  governed.upstream = std::make_shared<FakeUpstream>(
      [](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
        for (int i = 0; i < 3; ++i) co_await delivery->progress(i);
        co_return Envelope::of("hello");
      });
  ASSERT_TRUE(governed.call(Governed::read_file(), Caller{.progress = [](const json::value&) {}}));
  const auto items = waiting();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].message, "an address was seen");
  EXPECT_EQ(items[0].count, 4u);
  EXPECT_EQ(governed.recorder.of(Kind::Approval).size(), 1u);
  EXPECT_EQ(ids(), Texts{items[0].id});
}

// A guard's finding in the text of a tool that did not run was once shown to no person.
TEST_F(EscalationsTest, AGuardOpensAnItemAboutTheTextOfAToolThatDidNotRun) {
  const auto tool = std::make_shared<test::FakePreparer>();
  governed.tool = tool;
  escalates("pii", "an address was seen");
  tool->execute = [](Call, std::stop_token) -> Task<Envelope> {
    co_return PreparingUpstream::other_revision("it is at revision 4 now");
  };
  EXPECT_EQ(call()->outcome, Outcome::invalidated("it is at revision 4 now"));
  EXPECT_EQ(waiting().size(), 1u);
  tool->next = [](unsigned) -> Task<std::optional<PrepareStep>> {
    co_return PrepareStep{.kind = PrepareStep::Kind::Refused, .text = "outside the workspace"};
  };
  EXPECT_EQ(call("s-2")->outcome, Outcome::blocked("outside the workspace"));
  EXPECT_EQ(waiting().size(), 2u);
}

// PI-81 (partly)
TEST_F(EscalationsTest, AnItemIsListedWithEverythingAPersonNeedsAlsoAfterARestart) {
  escalates("pii", "an address was seen");
  const Result<Answer> answer = call();
  ASSERT_TRUE(answer);
  const EscalationItem wanted{.id = ids().at(0),
                              .call_id = answer->call_id,
                              .session_id = "s-1",
                              .agent_id = "agent:a",
                              .server = "",
                              .tool = "read_file",
                              .guard = "pii",
                              .message = "an address was seen",
                              .opened_at = "2026-01-01T00:00:00.000000Z",
                              .count = 1};
  EXPECT_EQ(waiting(), std::vector<EscalationItem>{wanted});
  governed.restart();
  EXPECT_EQ(waiting(), std::vector<EscalationItem>{wanted});
}

// PI-81 (partly) PI-82, LG-9 (partly)
TEST_F(EscalationsTest, SettlingTakesAnItemOffTheQueueAndRecordsWhoAndWhy) {
  escalates("pii", "an address was seen");
  const Result<Answer> answer = call();
  const std::size_t before = governed.recorder.written.size();
  const json::object released = governed.recorder.written.back().body;
  ASSERT_TRUE(settle(ids().at(0), true, "known customer"));
  EXPECT_TRUE(waiting().empty());
  ASSERT_EQ(governed.recorder.written.size(), before + 2);
  const Draft& event = governed.recorder.written[before];
  EXPECT_EQ(event.topic, "hitl.escalations");
  EXPECT_EQ(event.subject->call_id, answer->call_id);
  EXPECT_EQ(event.subject->agent_id, "agent:a");
  EXPECT_EQ(event.body.at("kind"), "hitl.escalation_accepted");
  EXPECT_EQ(event.body.at("payload").at("request_id"), json::value(ids().at(0)));
  EXPECT_EQ(event.body.at("payload").at("reviewer"), "user:ada");
  EXPECT_EQ(canonical_json(governed.recorder.written.back().body.members()),
            R"({"reason":"known customer","record":"approval_decision","request_id":")" +
                ids().at(0) + R"(","reviewer":"user:ada","state":"accepted"})");
  EXPECT_EQ(governed.recorder.written[before - 1].body, released);
}

// PI-82
TEST_F(EscalationsTest, AnItemIsSettledOnceAndDismissingSaysSo) {
  escalates("pii", "an address was seen");
  ASSERT_TRUE(call());
  const std::string id = ids().at(0);
  const std::size_t before = governed.recorder.written.size();
  ASSERT_TRUE(settle(id, false));
  EXPECT_EQ(governed.recorder.written.size(), before + 1);
  EXPECT_EQ(governed.recorder.written.back().body.at("state"), "dismissed");
  const Result<void> again = settle(id, true);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::NotFound);
  EXPECT_FALSE(settle("esc-unknown", true));
}

// PI-83
TEST_F(EscalationsTest, TheSameMessageOfAGuardAndSessionWithinAMinuteSharesOneItem) {
  escalates("pii", "an address was seen");
  ASSERT_TRUE(call());
  const Texts first = ids();
  clock.advance(std::chrono::milliseconds(59'999));
  ASSERT_TRUE(call());
  EXPECT_EQ(ids(), first);
  ASSERT_EQ(waiting().size(), 1u);
  EXPECT_EQ(waiting()[0].count, 2u);
  clock.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(call());
  EXPECT_NE(ids(), first);
  EXPECT_EQ(waiting().size(), 2u);
}

// PI-83
TEST_F(EscalationsTest, AnotherSessionGuardOrMessageIsAnotherItem) {
  escalates("pii", "an address was seen");
  escalates("other", "an address was seen");
  ASSERT_TRUE(call("s-1"));
  ASSERT_TRUE(call("s-2"));
  EXPECT_EQ(waiting().size(), 4u);
  for (const EscalationItem& item : waiting()) EXPECT_EQ(item.count, 1u);
}

// PI-84
TEST_F(EscalationsTest, AQueueThatCannotBeWrittenKeepsTheAnswerBack) {
  escalates("pii", "an address was seen");
  governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "disk full"};
  EXPECT_FALSE(call());
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_TRUE(governed.recorder.of(Kind::Approval).empty());
}

// PI-12 PI-41 (partly)
TEST_F(EscalationsTest, MessagesTravelWithARedactionAndABlock) {
  escalates("pii", "an address was seen");
  governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "strict", [](const Envelope&, const ResultContext&) { return Verdict::deny("no"); }));
  ASSERT_TRUE(call());
  EXPECT_EQ(ids().size(), 1u);
  EXPECT_EQ(waiting().size(), 1u);
  EXPECT_EQ(canonical_json(
                governed.recorder.records().back().body.at("post_invocation").at("escalations")),
            R"(["an address was seen"])");
}

}  // namespace
}  // namespace sallyport::core
