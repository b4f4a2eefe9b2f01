#include "core/turn/dispatch.h"

#include <gtest/gtest.h>

#include "core/approval/approval_request.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

// AP-23
TEST(DispatchTest, ATriggerIsNamedWithFewLetters) {
  for (const std::string& id :
       {std::string("a"), std::string("evt-7.x:Y_9"), std::string(128, 'x')}) {
    EXPECT_TRUE(check_trigger_id(id)) << id;
  }
  for (const std::string& id :
       {std::string(), std::string("a b"), std::string("a/b"), std::string(129, 'x')}) {
    EXPECT_EQ(check_trigger_id(id).error().where, "trigger_id") << id;
  }
}

// AP-23
TEST(DispatchTest, QuestionsOfATriggerAreNumberedUpToALimit) {
  test::FakeRecorder recorder;
  const auto take = [&](std::uint64_t first, std::uint64_t last) {
    std::vector<Draft> drafts(1);
    for (std::uint64_t n = first; n <= last; ++n) {
      drafts[0].facts.push_back(
          {std::string(kRequestSpace), question_id("approval", "evt", n), "taken"});
    }
    ASSERT_TRUE(test::run_now(recorder.append(std::move(drafts), Urgency::Reports)));
  };
  EXPECT_EQ(fresh_question_id(recorder, "approval", "evt"), "hitl_approval_evt_1");
  take(1, 9'999);
  EXPECT_EQ(fresh_question_id(recorder, "approval", "evt"), "hitl_approval_evt_10000");
  take(10'000, 10'000);
  EXPECT_EQ(fresh_question_id(recorder, "approval", "evt").error().code, ErrorCode::Unavailable);
  EXPECT_EQ(fresh_question_id(recorder, "approval", "other"), "hitl_approval_other_1");
}

}  // namespace
}  // namespace sallyport::core
