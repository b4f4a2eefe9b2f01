#include "mcp/message/screen.h"

#include <gtest/gtest.h>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::mcp {
namespace {

// The screen kept the name that its process had at first, also after the process had joined a
// shared log again under another: nothing ended what was let pass under the lost name.
// LE-71 SC-33
TEST(ScreenTest, WhatFailsOpenIsRecordedUnderTheNameOfNow) {
  sallyport::test::FakeRecorder recorder;
  sallyport::test::TestClock clock;
  core::PlanBuilder builder;
  builder.fail_open("broken").result_guard(std::make_shared<sallyport::test::FunctionResultGuard>(
      "broken", [](const Envelope&, const ResultContext&) -> Result<Verdict> {
        return fail(ErrorCode::Unavailable, "gone");
      }));
  sallyport::test::ChangingPlan plans(builder.build().value());
  Screen screen(plans, recorder, recorder, clock, {}, [](const Screen::Seen&) {});
  const auto pass = [&] {
    Message list = Message::read(R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})", {}).value();
    EXPECT_TRUE(sallyport::test::run_now(screen.pass("tools/list", std::move(list))));
    return recorder.written.back().facts.at(0).key;
  };
  recorder.instance = "first";
  EXPECT_EQ(pass(), "first/broken");
  recorder.instance = "second";
  EXPECT_EQ(pass(), "second/broken");
}

}  // namespace
}  // namespace sallyport::mcp
