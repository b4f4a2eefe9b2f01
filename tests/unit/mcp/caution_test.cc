#include <gtest/gtest.h>

#include "support/governed.h"

namespace sallyport::mcp {
namespace {

// A tool that declares itself no harmless lookup.
class Careful final : public core::Upstream {
 public:
  explicit Careful(bool raises) : raises_(raises) {}
  Task<Envelope> invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    co_return Envelope::of("ran");
  }
  bool raises_caution() const override { return raises_; }

 private:
  bool raises_;
};

Result<Answer> run(Tier planned, bool raises) {
  test::Governed governed;
  governed.plan =
      core::PlanBuilder()
          .autonomy(Autonomy::ActWithApproval)
          .tool("", "read_file", {planned, planned == Tier::Observe ? "none" : "fs.write"});
  governed.tool = std::make_shared<Careful>(raises);
  return governed.call(test::Governed::read_file(), core::Caller{.holds = false});
}

// AT-25
TEST(CautionTest, AHintRaisesATierAndNeverLowersOne) {
  EXPECT_EQ(run(Tier::Observe, false)->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(run(Tier::Observe, true)->outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_EQ(run(Tier::Confirm, false)->outcome.kind, Outcome::Kind::RequiresConfirmation);
}

}  // namespace
}  // namespace sallyport::mcp
