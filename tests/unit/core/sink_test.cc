// Host sinks: they get every record after it is durable, in order, and cannot influence the call.
#include "core/record/sink.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/record/stored_record.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::FunctionSink;
using test::Governed;
using test::text_at;

// AU-88
TEST(SinkTest, EachRecordIsGivenOutAfterItIsDurableAndInOrder) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<FunctionApprover>(
      [](const Question&) { return Reply::approve("user:ada"); });
  std::vector<AuditRecord> taken;
  governed.sinks.push_back(std::make_shared<FunctionSink>("copy", [&](const AuditRecord& record) {
    const Result<json::object> stored = governed.recorder.entry(record.sequence);
    EXPECT_TRUE(stored) << "it stands in the ledger already";
    if (stored) EXPECT_EQ(*audit_record_of(*stored), record);
    taken.push_back(record);
    return Result<void>{};
  }));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_FALSE(taken[0].terminal);
  EXPECT_EQ(taken[1].outcome.kind, Outcome::Kind::Completed);
  EXPECT_TRUE(taken[1].terminal);
  EXPECT_LT(taken[0].sequence, taken[1].sequence);
  EXPECT_EQ(taken[1].call_id, answer->call_id);
}

// AU-88
TEST(SinkTest, RefusedAndCachedCallsAreGivenOutToo) {
  Governed governed;
  std::vector<std::string> taken;
  const auto copy = std::make_shared<FunctionSink>("copy", [&](const AuditRecord& record) {
    taken.emplace_back(to_string(record.outcome.kind));
    return Result<void>{};
  });
  // Several places may share one sink; a sink that does nothing gets it too.
  governed.sinks = {copy, std::make_shared<NoSink>(), copy};
  ASSERT_TRUE(governed.call(Governed::read_file()));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  Call other = Governed::read_file();
  other.input = nullptr;
  ASSERT_TRUE(governed.call(other));
  EXPECT_EQ(taken, (std::vector<std::string>{"completed", "completed", "cached", "cached",
                                             "blocked", "blocked"}));
  EXPECT_TRUE(governed.recorder.of(Kind::HookFailed).empty());
}

// AU-88
TEST(SinkTest, WhatWasWrittenWhenNobodyWaitedIsGivenOutOnceAndBeforeWhatComesNext) {
  Governed governed;
  std::vector<std::uint64_t> taken;
  governed.sinks.push_back(std::make_shared<FunctionSink>("copy", [&](const AuditRecord& record) {
    taken.push_back(record.sequence);
    return Result<void>{};
  }));
  const Result<Answer> first = governed.call(Governed::read_file());
  ASSERT_TRUE(first);
  // As if it had been owed and is written by now.
  taken.clear();
  governed.recorder.late = {first->sequence};
  Call other = Governed::read_file();
  other.tool_call_id = "toolu_2";
  const Result<Answer> second = governed.call(other);
  ASSERT_TRUE(second);
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{first->sequence, second->sequence}));
  governed.recorder.late = {first->sequence};
  ASSERT_TRUE(test::run_now(governed.governor().start()));
  EXPECT_EQ(taken.size(), 3u) << "what recovery wrote is given out at the start";
}

// AU-88
TEST(SinkTest, WhatIsNotDurableIsNotGivenOut) {
  Governed governed;
  bool taken = false;
  governed.sinks.push_back(std::make_shared<FunctionSink>("copy", [&](const AuditRecord&) {
    taken = true;
    return Result<void>{};
  }));
  governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "the disk is gone"};
  EXPECT_FALSE(governed.call(Governed::read_file()));
  EXPECT_FALSE(taken);
}

// AU-89
TEST(SinkTest, ASinkThatFailsOrThrowsChangesNothingAndIsOnRecord) {
  for (const bool throws : {true, false}) {
    Governed governed;
    bool later_heard = false;
    governed.sinks.push_back(
        std::make_shared<FunctionSink>("broken", [throws](const AuditRecord&) -> Result<void> {
          if (throws) throw std::runtime_error("detail");
          return fail(ErrorCode::Unavailable, "the queue is full");
        }));
    governed.sinks.push_back(std::make_shared<FunctionSink>("later", [&](const AuditRecord&) {
      later_heard = true;
      return Result<void>{};
    }));
    const Result<Answer> answer = governed.call(Governed::read_file());
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->result.success);
    EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
    EXPECT_TRUE(later_heard);
    const auto failures = governed.recorder.of(Kind::HookFailed);
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(text_at(failures[0], "/record"), "hook_failed");
    EXPECT_EQ(text_at(failures[0], "/hook"), "broken");
    EXPECT_EQ(text_at(failures[0], "/event_type"), "tool_audit");
    EXPECT_EQ(text_at(failures[0], "/event_sequence"), std::to_string(answer->sequence));
    EXPECT_EQ(text_at(failures[0], "/error"), throws ? "exception" : "the queue is full");
    EXPECT_EQ(failures[0].subject->call_id, answer->call_id);
    EXPECT_EQ(governed.recorder.records().size(), 1u);
  }
}

// AU-89
TEST(SinkTest, AFailureThatCannotBeRecordedIsOwed) {
  Governed governed;
  governed.sinks.push_back(
      std::make_shared<FunctionSink>("broken", [&](const AuditRecord&) -> Result<void> {
        governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "the disk is gone"};
        return fail(ErrorCode::Unavailable, "the queue is full");
      }));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->result.success);
  ASSERT_EQ(governed.recorder.owed.size(), 1u);
  EXPECT_EQ(governed.recorder.owed[0].kind, Kind::HookFailed);
}

// AU-89: what recovery wrote is given out at the start, when no call is there to carry the failure.
TEST(SinkTest, AFailureAtTheStartIsOnRecordOrOwedNeverBothOrNeither) {
  for (const bool disk_is_gone : {false, true}) {
    Governed governed;
    bool broken = false;
    governed.sinks.push_back(
        std::make_shared<FunctionSink>("broken", [&](const AuditRecord&) -> Result<void> {
          if (broken) return fail(ErrorCode::Unavailable, "the queue is full");
          return {};
        }));
    const Result<Answer> answer = governed.call(Governed::read_file());
    ASSERT_TRUE(answer);
    broken = true;
    governed.recorder.late = {answer->sequence};
    if (disk_is_gone) {
      governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "the disk is gone"};
    }
    ASSERT_TRUE(test::run_now(governed.governor().start()));
    EXPECT_EQ(governed.recorder.of(Kind::HookFailed).size(), disk_is_gone ? 0u : 1u);
    EXPECT_EQ(governed.recorder.owed.size(), disk_is_gone ? 1u : 0u);
  }
}

}  // namespace
}  // namespace sallyport::core
