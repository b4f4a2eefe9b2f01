// Calls that another program executes: their entries, and the state after a refused write.
#include "core/handoff/hand_offs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::Governed;

class HandOffsTest : public testing::Test {
 protected:
  HandOffsTest() { governed.clock = &clock; }

  HandOffs& hand_offs() {
    if (!hand_offs_) {
      continuations_.emplace(governed.recorder, governed.recorder, KeyedDigest("k"), clock,
                             entropy_);
      hand_offs_.emplace(governed.governor(), *continuations_);
    }
    return *hand_offs_;
  }

  // Two calls in one hand-off.
  void hand_out() {
    Call second = Governed::read_file();
    second.tool_call_id = "toolu_2";
    Result<HandOffs::HandedOut> given =
        test::run_now(hand_offs().hand_out({.session_id = "s-1"}, {Governed::read_file(), second}));
    ASSERT_TRUE(given) << given.error().message;
    continuation = given->hand_off.continuation;
    ASSERT_EQ(given->hand_off.tool_calls.size(), 2u);
  }

  Result<std::vector<Answer>> submit() {
    const ToolResult done{.success = true, .output = "done"};
    return test::run_now(
        hand_offs().submit({continuation, {{"toolu_2", done}, {"toolu_1", done}}}, "s-1"));
  }

  std::vector<std::string> outcomes() const {
    std::vector<std::string> found;
    for (const Draft& record : governed.recorder.records()) found.push_back(record.outcome);
    return found;
  }

  test::TestClock clock;
  Governed governed;
  Continuation continuation;

 private:
  SystemEntropy entropy_;
  std::optional<Continuations> continuations_;
  std::optional<HandOffs> hand_offs_;
};

// AU-56
TEST_F(HandOffsTest, SubmittedResultsPassTheSecondDoorBeforeAnythingIsRecordedOrReleased) {
  std::size_t seen = 0;
  std::size_t written = 0;
  governed.plan.result_guard(std::make_shared<test::FunctionResultGuard>(
      "strict", [&](const Envelope& envelope, const ResultContext& context) {
        ++seen;
        EXPECT_EQ(governed.recorder.written.size(), written) << "nothing is recorded yet";
        EXPECT_EQ(canonical_json(envelope.to_json()), R"({"kind":"value","value":"done"})");
        EXPECT_EQ(context.tool, "read_file");
        return Verdict::deny("holds a key");
      }));
  hand_out();
  written = governed.recorder.written.size();
  const auto answers = submit();
  ASSERT_TRUE(answers);
  EXPECT_EQ(seen, 2u);
  for (const Answer& answer : *answers) {
    EXPECT_EQ(answer.result.output, "Result withheld by strict: holds a key");
    EXPECT_EQ(answer.released.message, answer.result.output);
  }
  for (const Draft& record : governed.recorder.records()) {
    EXPECT_EQ(test::text_at(record, "/outcome/result/output"),
              "Result withheld by strict: holds a key");
    EXPECT_EQ(test::text_at(record, "/post_invocation/verdict"), "block");
  }
}

// AU-94
TEST_F(HandOffsTest, AResultWithoutSuccessOrOutputIsRefusedByNameAndNothingIsWritten) {
  hand_out();
  const std::size_t written = governed.recorder.written.size();
  for (const char* const missing : {"success", "output"}) {
    json::value text = to_json(Submission{
        continuation, {{"toolu_1", {.success = true, .output = "done"}}, {"toolu_2", {}}}});
    text.at_pointer("/results/0/result").as_object().erase(missing);
    const Result<Submission> read = submission_from_text(json::serialize(text));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().where, fmt::format("results[0].result.{}", missing));
  }
  EXPECT_EQ(governed.recorder.written.size(), written);
  EXPECT_TRUE(governed.recorder.records().empty());
  EXPECT_TRUE(submit()) << "the calls still wait for their results";
}

// AU-95
TEST_F(HandOffsTest, WhatIsTooLongOrTooDeepIsRefusedAndTheCallStaysAnswerable) {
  hand_out();
  const std::string good = json::serialize(to_json(Submission{
      continuation, {{"toolu_1", {.success = true, .output = "done"}}, {"toolu_2", {}}}}));
  const std::string too_long = good + std::string(8 * 1024 * 1024 + 1 - good.size(), ' ');
  const std::string too_deep = std::string(65, '[') + std::string(65, ']');
  for (const std::string& text : {too_long, too_deep}) {
    EXPECT_FALSE(submission_from_text(text));
    EXPECT_FALSE(continuation_from_text(text));
  }
  EXPECT_TRUE(governed.recorder.records().empty());
  const Result<Submission> read = submission_from_text(good);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(test::run_now(hand_offs().submit(*read, "s-1")));
}

// AU-52 AU-57
TEST_F(HandOffsTest, AllRecordsAndRowsOfTheFirstSubmissionAreOneCommit) {
  hand_out();
  const std::size_t commits = governed.recorder.commits;
  ASSERT_TRUE(submit());
  EXPECT_EQ(governed.recorder.commits, commits + 1);
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"completed", "completed"}));
  for (const Fact& row : *governed.recorder.facts("idempotency")) {
    EXPECT_NE(row.value->find("Completed"), std::string::npos);
  }
  EXPECT_TRUE(governed.recorder.facts("handed_out")->empty());
}

// AU-87
TEST_F(HandOffsTest, WhatTheCallsAskedForIsErasedWithTheirRecords) {
  hand_out();
  const std::string path = "/tmp/x";
  EXPECT_NE(governed.recorder.facts("continuation_kept")->at(0).value->find(path),
            std::string::npos);
  ASSERT_TRUE(submit());
  EXPECT_EQ(governed.recorder.facts("continuation_kept")->at(0).value->find(path),
            std::string::npos);
}

// AU-58 AU-33
TEST_F(HandOffsTest, ASubmissionThatCannotBeCommittedMarksNothingAndMayBeMadeAgain) {
  hand_out();
  governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "disk full", "", "no_space"};
  const Result<std::vector<Answer>> refused = submit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "no_space");
  std::size_t owed = 0;
  for (const Draft& draft : governed.recorder.owed) {
    if (draft.kind != Kind::ToolAudit) continue;
    ++owed;
    EXPECT_EQ(draft.outcome, "persistence_failed");
    EXPECT_EQ(draft.body.at("terminal"), json::value(false));
    EXPECT_EQ(draft.body.at("effect_state"), "done");
    EXPECT_EQ(draft.body.at("outcome").at("result").at("output"), "done");
  }
  EXPECT_EQ(owed, 2u);
  EXPECT_EQ(governed.recorder.facts("handed_out")->size(), 2u);
  governed.recorder.refuse_reports.reset();
  ASSERT_TRUE(submit());
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"completed", "completed"}));
}

// AU-26 AU-47 AU-59
TEST_F(HandOffsTest, ALaterSubmissionHasRecordsOfItsOwnAndTheFirstResults) {
  hand_out();
  const Result<std::vector<Answer>> first = submit();
  ASSERT_TRUE(first);
  const ToolResult other{.success = false, .output = "something else"};
  const Result<std::vector<Answer>> again = test::run_now(
      hand_offs().submit({continuation, {{"toolu_1", other}, {"toolu_2", other}}}, "s-1"));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again->at(i).outcome.kind, Outcome::Kind::Replayed);
    EXPECT_EQ(again->at(i).result.output, "done");
    EXPECT_NE(again->at(i).call_id, first->at(i).call_id);
  }
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(record.body.at("effect_state"), "none");
  EXPECT_EQ(record.body.at("guards").as_array().back().at("guard"), "external.payload_differs");
}

// AU-60
TEST_F(HandOffsTest, WithoutAResultByItsDeadlineACallIsInvalidatedByWhoeverWritesNext) {
  hand_out();
  clock.advance(std::chrono::hours(24) + std::chrono::seconds(1));
  ASSERT_TRUE(test::run_now(hand_offs().expire()));
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"invalidated", "invalidated"}));
  EXPECT_EQ(governed.recorder.records().back().body.at("effect_state"), "unknown");
  const Result<std::vector<Answer>> late = submit();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().cause, "hand_off_expired");
  EXPECT_TRUE(governed.recorder.facts("continuation_kept")->empty()) << "AU-87";
}

TEST_F(HandOffsTest, AHandOffIsFoundByAnyOfItsCallsUntilItIsAnswered) {
  const auto out = [&](const std::string& session, const std::string& id) {
    const auto found = hand_offs().hand_off_of(session, id);
    EXPECT_TRUE(found) << found.error().message;
    return found && found->has_value();
  };
  EXPECT_FALSE(out("s-1", "toolu_1"));
  hand_out();
  EXPECT_TRUE(out("s-1", "toolu_1"));
  EXPECT_TRUE(out("s-1", "toolu_2"));
  EXPECT_FALSE(out("s-1", "toolu_3"));
  EXPECT_FALSE(out("s-2", "toolu_1"));
  ASSERT_TRUE(submit());
  EXPECT_FALSE(out("s-1", "toolu_1"));
  Call ran = Governed::read_file();
  ran.tool_call_id = "toolu_9";
  ASSERT_TRUE(governed.call(ran));
  EXPECT_FALSE(out("s-1", "toolu_9")) << "it ran here";
}

// The model proposed this call, and no other one.
TEST_F(HandOffsTest, AProposedCallIsTheOneWithTheSameIdToolAndInput) {
  Call proposed = Governed::read_file();
  ASSERT_TRUE(test::run_now(hand_offs().hand_out(
      {.session_id = "s-1", .state = HandOffs::proposed_to("agent:a")}, {proposed})));
  const auto known = [&](auto change) {
    Call call = Governed::read_file();
    change(call);
    const auto found = hand_offs().proposed_call(call);
    EXPECT_TRUE(found) << found.error().message;
    return found && found->has_value();
  };
  EXPECT_TRUE(known([](Call&) {}));
  EXPECT_FALSE(known([](Call& call) { call.tool = "write_file"; }));
  EXPECT_FALSE(known([](Call& call) { call.input = {{"path", "/etc/shadow"}}; }));
  EXPECT_FALSE(known([](Call& call) { call.agent_id = "agent:b"; }));
  EXPECT_FALSE(known([](Call& call) { call.tool_call_id = "toolu_2"; }));
  EXPECT_FALSE(known([](Call& call) { call.tool_call_id.clear(); }));
}

// AU-55 (partly): the id of a handed-out call is taken, for the same call and for others.
TEST_F(HandOffsTest, AnIdThatIsTakenSaysWhetherTheSameCallIsOut) {
  hand_out();
  const auto clashes = [&](Call call) {
    Result<HandOffs::HandedOut> given =
        test::run_now(hand_offs().hand_out({.session_id = "s-1"}, {std::move(call)}));
    EXPECT_TRUE(given) << given.error().message;
    EXPECT_TRUE(given->hand_off.tool_calls.empty());
    return given->clashes;
  };
  using Clash = HandOffs::HandedOut::Clash;
  using Clashes = std::map<std::string, Clash>;
  EXPECT_EQ(clashes(Governed::read_file()), (Clashes{{"toolu_1", Clash::Out}}));
  Call other = Governed::read_file();
  other.input = {{"path", "/etc/shadow"}};
  EXPECT_EQ(clashes(other), (Clashes{{"toolu_1", Clash::Taken}}));
  ASSERT_TRUE(submit());
  EXPECT_EQ(clashes(Governed::read_file()), Clashes{}) << "it was answered, and is again";
  EXPECT_EQ(clashes(other), (Clashes{{"toolu_1", Clash::Taken}}));
}

// Rules that give one tier to all calls, and remember reported results.
class KeepingRules final : public AutonomyRules {
 public:
  explicit KeepingRules(Autonomy tier) : tier_(tier) {}
  AutonomyAnswer weigh(const AutonomyQuestion&, RecordReader&, WallTime) const override {
    return {.tier = tier_, .source = "test"};
  }
  bool may_ask() const override { return true; }
  Draft remember(const Remembered& ended, WallTime) const override {
    kept.push_back(
        std::string(ended.enforcement == Enforcement::ApprovalGranted ? "granted" : "auto") +
        (ended.succeeded ? " good" : " bad") + " by " + ended.approver + " " +
        std::to_string(ended.answers.size()));
    approvals.push_back(ended.approval_id);
    return {.kind = Kind::Event, .body = {{"remembered", true}}};
  }
  json::object dump() const override { return {{"tier", to_string(tier_)}}; }

  mutable std::vector<std::string> kept;
  mutable std::vector<std::string> approvals;

 private:
  Autonomy tier_;
};

// AP-16 (partly): a call that ran elsewhere is remembered with the yes that permitted it.
TEST_F(HandOffsTest, ACallThatComesBackIsRememberedWithItsConsent) {
  struct {
    Autonomy tier;
    Tier tool;
    bool success;
    std::vector<std::string> kept;
  } const kCases[] = {
      {Autonomy::ActWithApproval, Tier::Confirm, true, {"granted good by user:ada 1"}},
      {Autonomy::ActWithApproval, Tier::Confirm, false, {"granted bad by user:ada 1"}},
      {Autonomy::ActAuto, Tier::Confirm, true, {"auto good by  0"}},
      {Autonomy::ActAuto, Tier::Observe, true, {}},
  };
  for (const auto& one : kCases) {
    Governed fresh;
    const auto rules = std::make_shared<KeepingRules>(one.tier);
    fresh.plan.autonomy_rules(rules).tool("", "read_file", {one.tool, "fs.read"});
    fresh.approver = std::make_shared<test::FunctionApprover>(
        [](const Question&) { return Reply::approve("user:ada"); });
    SystemEntropy entropy;
    Continuations continuations(fresh.recorder, fresh.recorder, KeyedDigest("k"), clock, entropy);
    HandOffs offs(fresh.governor(), continuations);
    const auto given = test::run_now(offs.hand_out({.session_id = "s-1"}, {Governed::read_file()}));
    ASSERT_TRUE(given) << given.error().message;
    ASSERT_EQ(given->hand_off.tool_calls.size(), 1u);
    EXPECT_TRUE(rules->kept.empty()) << "it has not come back";
    const ToolResult done{.success = one.success, .output = "done"};
    const auto submitted =
        test::run_now(offs.submit({given->hand_off.continuation, {{"toolu_1", done}}}, "s-1"));
    ASSERT_TRUE(submitted) << submitted.error().message;
    EXPECT_EQ(rules->kept, one.kept);
    if (!rules->approvals.empty()) {
      EXPECT_EQ(rules->approvals.front().empty(), one.tier == Autonomy::ActAuto);
    }
  }
}

}  // namespace
}  // namespace sallyport::core
