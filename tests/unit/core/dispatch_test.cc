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

// Ids of questions, facts and notices once showed a secret in the id of an event.
// AU-81 (partly) AU-84 (partly)
TEST(DispatchTest, ATriggerThatHoldsASecretIsRefusedAndNotRepeated) {
  class Secrets final : public Redactor {
   public:
    std::vector<Removal> redact(std::string_view, json::value&) const override { return {}; }
    bool redact_identifier(std::string& text) const override {
      const bool secret = text.contains("hunter2");
      if (secret) text = "[REDACTED:secret]";
      return secret;
    }
  };
  const Secrets redactor;
  test::Governed governed;
  governed.redactor = &redactor;
  Call call = test::Governed::read_file();
  call.trigger_id = "evt-hunter2";
  const Result<Answer> answer = governed.call(call);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(answer.error().where, "trigger_id");
  EXPECT_FALSE(answer.error().message.contains("hunter2"));
  EXPECT_TRUE(governed.recorder.written.empty());
  call.trigger_id = "evt-1";
  EXPECT_TRUE(governed.call(call));
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

// AT-12
TEST(DispatchTest, ACallOfATriggerNamesTheEventThatStartedIt) {
  test::Governed governed;
  Call call = test::Governed::read_file();
  call.trigger_id = "evt-1";
  call.setting.trigger = {{"provider", "github"}};
  ASSERT_TRUE(governed.call(call));
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(test::text_at(record, "/dispatch/trigger/id"), "evt-1");
  EXPECT_EQ(test::text_at(record, "/dispatch/trigger/provider"), "github");
  EXPECT_EQ(test::text_at(record, "/dispatch/trigger/kind"), "");
  ASSERT_TRUE(governed.call([] {
    Call other = test::Governed::read_file();
    other.tool_call_id = "toolu_2";
    other.trigger_id = "evt-2";
    return other;
  }()));
  EXPECT_EQ(test::text_at(governed.recorder.records().back(), "/dispatch"), "(absent)");
}

}  // namespace
}  // namespace sallyport::core
