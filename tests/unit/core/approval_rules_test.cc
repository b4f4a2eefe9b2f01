// Which answers count on the word of the program that holds the plan.
#include "core/plan/approval_rules.h"

#include <gtest/gtest.h>

#include "core/approval/doors.h"

namespace sallyport::core {
namespace {

class NoKeyFits final : public ReviewerBook {
 public:
  Result<void> check(const std::string&, std::string_view, std::string_view) const override {
    return fail(ErrorCode::Unauthenticated, "no registered key signed this");
  }
  json::value dump() const override { return nullptr; }
};

// A program does not vouch for the people who answer at the console of `serve`. Their answers passed
// unchecked.
// AP-10
TEST(ApprovalRulesTest, AProgramVouchesForItsOwnAnswersOnly) {
  const ApprovalRules rules{.people = std::make_shared<NoKeyFits>(), .program_vouches = true};
  const auto counts = [&](std::string_view door) {
    return rules.check(door, "user:ada", "statement", "signature").has_value();
  };
  EXPECT_TRUE(counts("program"));
  for (const std::string_view door :
       {std::string_view("cli:key"), std::string_view("cli:token"), std::string_view("http:token"),
        kConsoleDoor, std::string_view("external:pager")}) {
    EXPECT_FALSE(counts(door)) << door;
  }
}

}  // namespace
}  // namespace sallyport::core
