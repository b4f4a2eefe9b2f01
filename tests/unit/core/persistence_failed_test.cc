// The ledger refuses a write: the caller's answer, and the debts until writing works again.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::FunctionGuard;
using test::FunctionResultGuard;
using test::Governed;
using test::text_at;

const Error kNoSpace{ErrorCode::Unavailable, "ledger_unavailable: no_space", "", "no_space"};

// Fails the commits with a draft of this outcome, or of this kind if it has none.
auto failing(std::string what) {
  return [what](const std::vector<Draft>& drafts) -> std::optional<Error> {
    const bool meant = std::ranges::any_of(drafts, [&](const Draft& draft) {
      return draft.outcome == what || (draft.outcome.empty() && to_string(draft.kind) == what);
    });
    return meant ? std::optional(kNoSpace) : std::nullopt;
  };
}

// The owed records; there is one for each call that could not be recorded.
std::vector<Draft> owed_records(const Governed& governed) {
  std::vector<Draft> records;
  for (const Draft& draft : governed.recorder.owed) {
    if (draft.kind == Kind::ToolAudit) records.push_back(draft);
  }
  return records;
}

void expect_owed(const Governed& governed, std::string_view result, std::string_view effect,
                 std::string_view error) {
  const std::vector<Draft> records = owed_records(governed);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].outcome, "persistence_failed");
  EXPECT_EQ(text_at(records[0], "/outcome/kind"), "persistence_failed");
  EXPECT_EQ(text_at(records[0], "/outcome/result/output"), result);
  EXPECT_EQ(text_at(records[0], "/effect_state"), effect);
  EXPECT_EQ(text_at(records[0], "/terminal"), "true");
  EXPECT_EQ(text_at(records[0], "/outcome/error"), error);
  EXPECT_EQ(governed.recorder.owed.back().kind, Kind::ToolAudit) << "the record comes last";
}

// AU-22 AU-30 AU-32 AU-76 (partly)
TEST(PersistenceFailedTest, WithoutTheIntentTheToolIsNotCalled) {
  Governed governed;
  governed.recorder.refuse = failing("intent");
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause, "no_space");
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_TRUE(governed.recorder.records().empty());
  EXPECT_EQ(answer.error().where, "");
  expect_owed(governed, "(absent)", "none",
              "the intent could not be recorded: ledger_unavailable: no_space");
  EXPECT_TRUE(std::ranges::none_of(governed.recorder.owed, [](const Draft& draft) {
    return draft.kind == Kind::Intent ||
           text_at(draft, "/kind").starts_with("tool_execution_started");
  })) << "what was not announced did not begin";
}

// AU-30 AU-76 (partly)
TEST(PersistenceFailedTest, WithoutTheQuestionNobodyIsAsked) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval);
  bool asked = false;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question&) {
    asked = true;
    return Reply::approve("user:ada");
  });
  governed.recorder.refuse = failing("requires_confirmation");
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause, "no_space");
  EXPECT_FALSE(asked);
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_TRUE(governed.recorder.facts("approval")->empty());
  expect_owed(governed, "(absent)", "none",
              "the approval question could not be recorded: ledger_unavailable: no_space");
  EXPECT_TRUE(std::ranges::none_of(
      governed.recorder.owed, [](const Draft& draft) { return draft.kind == Kind::Approval; }));
}

// AU-30 AU-76 (partly)
TEST(PersistenceFailedTest, ARefusalStaysARefusal) {
  Governed governed;
  governed.plan.guard(
      std::make_shared<FunctionGuard>("g", [](const Call&) { return Verdict::deny("outside"); }));
  governed.recorder.refuse = failing("blocked");
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::PersistenceFailed);
  EXPECT_FALSE(answer->outcome.result);
  EXPECT_EQ(answer->result.output, "Blocked: outside");
  EXPECT_FALSE(answer->result.success);
  expect_owed(governed, "(absent)", "none",
              "blocked could not be recorded: ledger_unavailable: no_space");
}

// AU-30 AU-76 (partly)
TEST(PersistenceFailedTest, AnInvalidatedCallThatCannotBeRecordedStaysOne) {
  Governed governed;
  const auto tool = std::make_shared<test::FakePreparer>();
  tool->next = [](unsigned) -> Task<std::optional<PrepareStep>> {
    co_return PrepareStep{.kind = PrepareStep::Kind::Invalid, .text = "no such account"};
  };
  governed.tool = tool;
  governed.recorder.refuse = failing("invalidated");
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  EXPECT_TRUE(answer->result.output.ends_with("no such account"));
  expect_owed(governed, "(absent)", "none",
              "invalidated could not be recorded: ledger_unavailable: no_space");
}

// AU-30 AU-34 AU-76 (partly)
TEST(PersistenceFailedTest, AStoredAnswerIsNotReleasedWithoutItsRecord) {
  Governed governed;
  ASSERT_TRUE(governed.call(Governed::read_file()));
  governed.recorder.refuse = failing("cached");
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause, "no_space");
  EXPECT_EQ(answer.error().where, "") << "it did not run again";
  expect_owed(governed, "(absent)", "none",
              "cached could not be recorded: ledger_unavailable: no_space");
  EXPECT_EQ(text_at(owed_records(governed)[0], "/outcome/result"), "null");
}

// AU-22 AU-30 AU-31 AU-34 AU-76 (partly)
TEST(PersistenceFailedTest, TheOutcomeOfAnExecutedCallIsOwedWithWhatWouldHaveBeenReleased) {
  Governed governed;
  governed.plan.result_guard(
      std::make_shared<FunctionResultGuard>("mask", [](const Envelope&, const ResultContext&) {
        return Verdict::rewrite(Envelope::of("masked").to_json());
      }));
  governed.recorder.refuse = failing("completed");
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().where, "outcome") << "the caller must know that it ran";
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  expect_owed(governed, "masked", "done",
              "completed could not be recorded: ledger_unavailable: no_space");
  ASSERT_EQ(governed.recorder.owed.size(), 2u);
  EXPECT_EQ(text_at(governed.recorder.owed[0], "/kind"), "tool_execution_finished");
}

// AU-17 AU-30
TEST(PersistenceFailedTest, AnEffectThatIsNotKnownStaysUnknown) {
  Governed governed;
  governed.upstream = std::make_shared<test::FakeUpstream>(
      [](Call, std::stop_token) -> Task<Envelope> { throw std::bad_alloc(); });
  governed.recorder.refuse = failing("completed");
  EXPECT_FALSE(governed.call(Governed::read_file()));
  expect_owed(governed, "the tool failed", "unknown",
              "completed could not be recorded: ledger_unavailable: no_space");
}

// AU-32 AU-45
TEST(PersistenceFailedTest, WhatIsOwedClosesTheCallAndItsRowWhenItIsWritten) {
  Governed governed;
  governed.recorder.refuse = failing("completed");
  EXPECT_FALSE(governed.call(Governed::read_file()));
  EXPECT_EQ(governed.recorder.facts("open_call")->size(), 1u);
  governed.recorder.refuse = {};
  ASSERT_TRUE(test::run_now(
      governed.recorder.append(std::exchange(governed.recorder.owed, {}), Urgency::Reports)));
  EXPECT_TRUE(governed.recorder.facts("open_call")->empty());
  ASSERT_EQ(governed.recorder.records().size(), 1u);
  const Result<Answer> again = governed.call(Governed::read_file());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(again->outcome.result->data, (json::value{{"answer", 42}}));
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-32 AU-76 (partly)
TEST(PersistenceFailedTest, WhileTheLedgerIsNotReadyNothingStartsAndTheRefusalIsRecorded) {
  Governed governed;
  governed.recorder.not_ready = kNoSpace;
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_TRUE(governed.recorder.events().empty()) << "nothing was announced";
  governed.recorder.refuse_reports = kNoSpace;
  const Result<Answer> second = governed.call(Governed::read_file());
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->result.success);
  EXPECT_EQ(owed_records(governed).size(), 1u);
}

// Debts of calls once had no limit while the disk refused.
TEST(PersistenceFailedTest, WhenTooMuchIsOwedACallIsRefusedBeforeItIsOne) {
  Governed governed;
  governed.recorder.full = kNoSpace;
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, kNoSpace.message);
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_TRUE(governed.recorder.owed.empty());
  EXPECT_EQ(governed.recorder.commits, 0u);
  governed.recorder.full.reset();
  EXPECT_TRUE(governed.call(Governed::read_file()));
}

// AU-30
TEST(PersistenceFailedTest, WritesThatSucceedLeaveNothingOwed) {
  Governed governed;
  ASSERT_TRUE(governed.call(Governed::read_file()));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  EXPECT_TRUE(governed.recorder.owed.empty());
  for (const Draft& record : governed.recorder.records()) {
    EXPECT_NE(record.outcome, "persistence_failed");
  }
}

// AU-30 (partly): parts that no entry can hold are left out step by step; the rest is recorded.
TEST(PersistenceFailedTest, ARecordThatFitsNoEntryIsSaidWithoutWhatDoesNotFit) {
  const Error too_large{ErrorCode::InvalidInput, "the entry is too large", "", ""};
  const struct {
    std::size_t refused;  // so many commits of the record do not fit
    std::optional<Error> then;
    std::size_t records;
    bool content;
    std::size_t owed;
  } kCases[] = {
      {1, std::nullopt, 1, true, 0}, {2, std::nullopt, 1, false, 0}, {3, std::nullopt, 0, false, 1},
      {1, kNoSpace, 0, false, 1},    {2, kNoSpace, 0, false, 1},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(one.refused);
    Governed governed;
    std::size_t tries = 0;
    governed.recorder.refuse = [&](const std::vector<Draft>& drafts) -> std::optional<Error> {
      const bool record = std::ranges::any_of(
          drafts, [](const Draft& draft) { return draft.kind == Kind::ToolAudit; });
      if (!record) return std::nullopt;
      return ++tries <= one.refused ? std::optional(too_large) : one.then;
    };
    EXPECT_FALSE(governed.call(Governed::read_file()));
    EXPECT_EQ(governed.upstream->calls.size(), 1u);
    const std::vector<Draft> records = governed.recorder.records();
    ASSERT_EQ(records.size(), one.records);
    EXPECT_EQ(owed_records(governed).size(), one.owed);
    if (records.empty()) continue;
    EXPECT_EQ(records[0].outcome, "persistence_failed");
    EXPECT_EQ(text_at(records[0], "/outcome/result/output"), "(absent)");
    EXPECT_EQ(text_at(records[0], "/requested_input/path") == "/tmp/x", one.content)
        << json::serialize(records[0].body.members());
  }
}

}  // namespace
}  // namespace sallyport::core
