// Events of tools that prepare an operation first and then execute it.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/call/governor.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::Governed;
using Names = std::vector<std::string>;
using Steps = std::vector<std::optional<PrepareStep>>;

const Names kDenied = {"tool_authorization_started", "tool_authorization_finished(deny)",
                       "tool_authorization_blocked(deny)"};
const Names kPrompted = {"tool_authorization_started", "tool_authorization_finished(prompt)",
                         "tool_authorization_blocked(prompt)"};
const Names kAllowed = {"tool_authorization_started", "tool_authorization_finished(allow)",
                        "tool_execution_started", "tool_execution_finished"};

PrepareStep ready() {
  return {.kind = PrepareStep::Kind::Ready,
          .prepared = {.operation_id = "op-1", .revision = 7, .snapshot = {{"rows", 3}}}};
}

class ScriptedPreparation final : public Preparation {
 public:
  explicit ScriptedPreparation(Steps steps) : steps_(std::move(steps)) {}
  Task<std::optional<PrepareStep>> next() override { co_return steps_.at(at_++); }

 private:
  Steps steps_;
  std::size_t at_ = 0;
};

class ScriptedTool final : public PreparingUpstream {
 public:
  explicit ScriptedTool(Steps steps) : steps_(std::move(steps)) {}
  std::shared_ptr<Preparation> prepare(Call, std::stop_token) override {
    return std::make_shared<ScriptedPreparation>(steps_);
  }
  void cancel(std::string operation_id) override { cancelled.push_back(std::move(operation_id)); }
  Task<Envelope> invoke(Call call, std::shared_ptr<Delivery>, std::stop_token) override {
    inputs.push_back(call.input);
    if (moved_on) co_return other_revision("revision 8 is there");
    co_return Envelope::of("done");
  }

  bool moved_on = false;
  Names cancelled;
  std::vector<json::value> inputs;

 private:
  Steps steps_;
};

class ApprovingPerson final : public Approver {
 public:
  Task<Reply> answer(Question) const override { co_return Reply::approve("user:ada"); }
};

class EventPreparationTest : public testing::Test {
 protected:
  Names events_with(Steps steps) {
    tool = std::make_shared<ScriptedTool>(std::move(steps));
    tool->moved_on = moved_on;
    governed.tool = tool;
    EXPECT_TRUE(governed.call(Governed::read_file()));
    return governed.recorder.events();
  }
  std::string last_reason() const {
    return std::string(governed.recorder.of(Kind::Event).back().body.at("reason").as_string());
  }

  Governed governed;
  std::shared_ptr<ScriptedTool> tool;  // the Governor keeps it too, as long as a call runs
  bool moved_on = false;
};

// EV-33 EV-11
TEST_F(EventPreparationTest, APreparedCallIsOneDecisionAndOneExecution) {
  EXPECT_EQ(events_with({PrepareStep{}, ready()}), kAllowed);
  ASSERT_EQ(tool->inputs.size(), 1u);
  EXPECT_EQ(tool->inputs[0].at("operation_id"), "op-1");
  EXPECT_TRUE(tool->cancelled.empty());
}

// EV-36
TEST_F(EventPreparationTest, APreparedCallThatIsApprovedIsDecidedTwiceAndPreparedOnce) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<ApprovingPerson>();
  Names wanted = kPrompted;
  wanted.insert(wanted.end(), kAllowed.begin(), kAllowed.end());
  EXPECT_EQ(events_with({ready()}), wanted);
  EXPECT_EQ(tool->inputs.size(), 1u);
}

// EV-42 (partly)
TEST_F(EventPreparationTest, ARuleOfTheToolMetWhilePreparingIsADenialThatNoPolicyMade) {
  EXPECT_EQ(events_with({PrepareStep{.kind = PrepareStep::Kind::Refused, .text = "outside"}}),
            kDenied);
  EXPECT_EQ(last_reason(), "outside");
  EXPECT_TRUE(tool->inputs.empty());
}

// EV-12 EV-13
TEST_F(EventPreparationTest, APreparationThatIsInvalidOrEndsEarlyIsADenialWithItsCause) {
  EXPECT_EQ(events_with({PrepareStep{.kind = PrepareStep::Kind::Invalid, .text = "no such row"}}),
            kDenied);
  EXPECT_EQ(last_reason(), "no such row");
  EXPECT_EQ(governed.recorder.records().back().outcome, "invalidated");
  events_with({PrepareStep{}, std::nullopt});
  EXPECT_EQ(last_reason(), "preparation ended early");
  EXPECT_TRUE(tool->inputs.empty());
}

// EV-19
TEST_F(EventPreparationTest, AnExecutionThatFindsAnotherRevisionStillFinishesAsAnError) {
  moved_on = true;
  EXPECT_EQ(events_with({ready()}), kAllowed);
  const json::object finished = governed.recorder.of(Kind::Event).back().body;
  EXPECT_EQ(finished.at("is_error"), true);
  EXPECT_EQ(governed.recorder.records().back().outcome, "invalidated");
}

}  // namespace
}  // namespace sallyport::core
