// The index of open approval requests, which lists, metrics and starting processes read.
#include "core/approval/live_questions.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::Governed;
using test::run_now;

// Counts the facts that are read.
class CountingReader final : public RecordReader {
 public:
  explicit CountingReader(RecordReader& records) : records_(records) {}
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override {
    ++reads;
    return records_.fact(space, key);
  }
  Result<std::vector<Fact>> facts(std::string_view space) override {
    auto found = records_.facts(space);
    reads += 1 + (found ? found->size() : 0);
    return found;
  }
  Result<json::object> entry(std::uint64_t sequence) override { return records_.entry(sequence); }

  std::size_t reads = 0;

 private:
  RecordReader& records_;
};

class LiveQuestionsTest : public testing::Test {
 protected:
  LiveQuestionsTest() { governed_.clock = &clock_; }
  void use(Autonomy autonomy) {
    governed_.restart(PlanBuilder().autonomy(autonomy).approval_time(std::chrono::seconds(60)));
  }
  static Call next_call() {
    static int calls = 0;
    Call call = Governed::read_file();
    call.tool_call_id = "t-" + std::to_string(++calls);
    return call;
  }
  // A call to which a person gives this answer.
  std::string ask(const Reply& reply) {
    std::string id;
    governed_.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
      id = question.approval_id;
      return reply;
    });
    use(Autonomy::ActWithApproval);
    (void)governed_.call(next_call());
    return id;
  }
  // A waiting request whose call no process holds.
  std::string leave_open() {
    governed_.approver = nullptr;
    use(Autonomy::Suggest);
    const Result<Answer> answer = governed_.call(next_call());
    return answer ? answer->approval_id : "";
  }
  std::vector<std::string> live() {
    std::vector<std::string> ids;
    for (const auto& [id, state] : live_questions::all(governed_.recorder).value()) {
      ids.push_back(id);
    }
    return ids;
  }
  std::map<ApprovalStatus, std::uint64_t> counts() {
    return live_questions::counts(governed_.recorder, clock_.wall()).value();
  }
  std::size_t reads_of_list() {
    CountingReader reader(governed_.recorder);
    EXPECT_TRUE(live_questions::all(reader));
    return reader.reads;
  }
  std::size_t reads_of_counts() {
    CountingReader reader(governed_.recorder);
    EXPECT_TRUE(live_questions::counts(reader, clock_.wall()));
    return reader.reads;
  }

  test::TestClock clock_;
  Governed governed_;
};

TEST_F(LiveQuestionsTest, WhatAListReadsDoesNotGrowWithHistory) {
  (void)ask(Reply::approve("user:eve"));
  (void)ask(Reply::deny("user:eve"));
  const std::string open = leave_open();
  const std::size_t list = reads_of_list();
  const std::size_t counted = reads_of_counts();
  for (int i = 0; i < 20; ++i) {
    (void)ask(Reply::approve("user:eve"));
    (void)ask(Reply::deny("user:eve"));
  }
  EXPECT_EQ(live(), std::vector{open});
  EXPECT_EQ(reads_of_list(), list);
  EXPECT_EQ(reads_of_counts(), counted);
  EXPECT_EQ(counts()[ApprovalStatus::Used], 21u);
  EXPECT_EQ(counts()[ApprovalStatus::Denied], 21u);
  EXPECT_EQ(counts()[ApprovalStatus::Pending], 1u);
}

TEST_F(LiveQuestionsTest, AQuestionWhoseTimeIsOverHasExpiredBeforeAndAfterThatIsRecorded) {
  const std::string id = leave_open();
  clock_.advance(std::chrono::hours(24));
  EXPECT_EQ(counts()[ApprovalStatus::Expired], 1u);
  EXPECT_EQ(counts()[ApprovalStatus::Pending], 0u);
  EXPECT_EQ(live(), std::vector{id});
  EXPECT_TRUE(run_now(governed_.governor().approvals().expire_all()));
  EXPECT_EQ(counts()[ApprovalStatus::Expired], 1u);
  EXPECT_TRUE(live().empty());
}

// Metrics once showed an unused yes as approved forever, and lists showed it as expired.
TEST_F(LiveQuestionsTest, AnUnusedYesWhoseTimeIsOverHasExpired) {
  const WallTime now = clock_.wall();
  const ApprovalState yes{.status = ApprovalStatus::Approved, .call_id = "c-1", .expires_at = now};
  EXPECT_EQ(live_questions::shown_status(yes, now), ApprovalStatus::Expired);
  EXPECT_EQ(live_questions::shown_status(yes, now - std::chrono::seconds(1)),
            ApprovalStatus::Approved);
  const ApprovalState answer{.status = ApprovalStatus::Approved,
                             .expires_at = now};  // for a request without a call
  EXPECT_EQ(live_questions::shown_status(answer, now), ApprovalStatus::Approved);
  EXPECT_TRUE(live_questions::is_live(yes));
  EXPECT_FALSE(live_questions::is_live(answer));
}

TEST_F(LiveQuestionsTest, ALedgerWithoutTheIndexIsScannedUntilTheNextQuestionBeginsIt) {
  const std::string open = leave_open();
  (void)ask(Reply::deny("user:eve"));
  // The form that an earlier release left.
  Draft draft{.kind = Kind::Control, .body = {{"record", "test"}}};
  for (const std::string_view space : {"approval_live", "approval_done"}) {
    for (Fact& fact : governed_.recorder.facts(space).value()) {
      draft.facts.push_back({fact.space, fact.key, std::nullopt});
    }
  }
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  ASSERT_TRUE(run_now(governed_.recorder.append(std::move(drafts), Urgency::Reports, {})));
  EXPECT_EQ(live(), std::vector{open});
  EXPECT_EQ(counts()[ApprovalStatus::Denied], 1u);
  const std::size_t before = reads_of_list();
  const std::string second = leave_open();
  EXPECT_EQ(live().size(), 2u);
  EXPECT_EQ(counts()[ApprovalStatus::Denied], 1u);
  EXPECT_EQ(counts()[ApprovalStatus::Pending], 2u);
  (void)ask(Reply::deny("user:eve"));
  EXPECT_EQ(counts()[ApprovalStatus::Denied], 2u);
  EXPECT_GT(before, 2u);
}

TEST_F(LiveQuestionsTest, AStaleEntryOfTheIndexIsNoLiveQuestion) {
  const std::string done = ask(Reply::deny("user:eve"));
  std::vector<Draft> drafts;
  drafts.push_back({.kind = Kind::Control,
                    .body = {{"record", "test"}},
                    .facts = {live_questions::opened(done)}});
  ASSERT_TRUE(run_now(governed_.recorder.append(std::move(drafts), Urgency::Reports, {})));
  EXPECT_TRUE(live().empty());
}

}  // namespace
}  // namespace sallyport::core
