#include "core/event/abort_reason.h"

#include <gtest/gtest.h>

namespace sallyport::core {
namespace {

// EV-107
TEST(AbortReasonTest, EachReasonBeginsWithItsWord) {
  const std::pair<AbortCause, std::string> words[] = {
      {AbortCause::Cancelled, "cancelled"},
      {AbortCause::DeadlineExceeded, "deadline_exceeded"},
      {AbortCause::ModelBudgetExceeded, "model_budget_exceeded"},
      {AbortCause::ToolBudgetExceeded, "tool_budget_exceeded"},
      {AbortCause::TokenBudgetExceeded, "token_budget_exceeded"},
      {AbortCause::LeaseLost, "lease_lost"},
      {AbortCause::Interrupted, "interrupted"},
      {AbortCause::Error, "error"}};
  for (const auto& [cause, word] : words) {
    EXPECT_EQ(abort_reason(cause), word);
    EXPECT_EQ(abort_reason(cause, "for a reason"), word + ": for a reason");
    EXPECT_EQ(abort_cause(abort_reason(cause)), cause);
    EXPECT_EQ(abort_cause(abort_reason(cause, "for a reason")), cause);
    EXPECT_NE(abort_cause_rule().find("`" + word + "`"), std::string::npos);
  }
}

// EV-107
TEST(AbortReasonTest, AnyOtherBeginningIsRefused) {
  for (const std::string_view reason : {"", "bored", "Cancelled", " cancelled", "errors", "error_x",
                                        "the run was cancelled", "lease_los"}) {
    EXPECT_EQ(abort_cause(reason), std::nullopt) << reason;
  }
}

}  // namespace
}  // namespace sallyport::core
