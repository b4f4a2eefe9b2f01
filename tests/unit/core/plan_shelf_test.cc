#include "core/plan/plan_shelf.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FakeRecorder;
using test::run_now;

std::shared_ptr<const Plan> plan(std::string tool) {
  return *PlanBuilder()
              .autonomy(Autonomy::ActAuto)
              .tool("", std::move(tool), {Tier::Observe, "none"})
              .build();
}

// LE-69
TEST(PlanShelfTest, ALoadedPlanIsRecordedWithTheHashBeforeItAndThenInForce) {
  FakeRecorder recorder;
  PlanShelf shelf(recorder, "sha256:before");
  const auto first = plan("a");
  const auto second = plan("b");
  ASSERT_TRUE(run_now(shelf.load(first, {"a.yaml", "uid:dana"})));
  ASSERT_TRUE(run_now(shelf.load(second, {"b.yaml", "uid:dana"})));
  EXPECT_EQ(shelf.current(), second);
  ASSERT_EQ(recorder.written.size(), 2u);
  EXPECT_EQ(canonical_json(recorder.written[0].body.members()),
            R"({"control":"policy_loaded","generation":0,"hash":")" + first->hash() +
                R"(","hash_before":"sha256:before","source":"a.yaml","who":"uid:dana"})");
  EXPECT_EQ(recorder.written[1].body.at("hash_before"), json::value(first->hash()));
}

// LE-69
TEST(PlanShelfTest, ARejectedPlanLeavesTheLastGoodOneAndSaysWhereItIsWrong) {
  FakeRecorder recorder;
  PlanShelf shelf(recorder);
  const auto good = plan("a");
  ASSERT_TRUE(run_now(shelf.load(good, {"a.yaml", "uid:dana"})));
  const Error error{ErrorCode::InvalidInput, "unknown key `on_fial`", "a.yaml:14:3"};
  ASSERT_TRUE(run_now(shelf.reject({"a.yaml", "uid:dana"}, error)));
  EXPECT_EQ(shelf.current(), good);
  EXPECT_EQ(recorder.written[1].body.at("control"), json::value("policy_rejected"));
  EXPECT_EQ(recorder.written[1].body.at("place"), json::value("a.yaml:14:3"));
}

// LE-69: no effect without a record.
TEST(PlanShelfTest, APlanThatCannotBeRecordedIsNotInForce) {
  FakeRecorder recorder;
  PlanShelf shelf(recorder);
  recorder.refuse_announcements = Error{ErrorCode::Unavailable, "ledger_unavailable: io", "", "io"};
  EXPECT_FALSE(run_now(shelf.load(plan("a"), {"a.yaml", "uid:dana"})));
  EXPECT_EQ(shelf.current()->hash(), closed_plan()->hash());
}

TEST(PlanShelfTest, BeforeTheFirstPlanEveryCallIsDeniedAndRecorded) {
  FakeRecorder recorder;
  PlanShelf shelf(recorder);
  SystemClock clock;
  SystemEntropy entropy;
  const NoRedactor redactor;
  Governor governor({shelf, recorder, redactor, clock, entropy, KeyedDigest("k")});
  const auto upstream = std::make_shared<test::FakeUpstream>();
  const auto answer = run_now(governor.run(test::Governed::read_file(), upstream));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "Blocked: no policy is in force");
  EXPECT_TRUE(upstream->calls.empty());
  EXPECT_EQ(recorder.written.at(0).subject->policy_hash, closed_plan()->hash());
}

}  // namespace
}  // namespace sallyport::core
