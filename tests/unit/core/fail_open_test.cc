#include "core/plan/fail_open.h"

#include <gtest/gtest.h>

#include "support/fake_recorder.h"

namespace sallyport::core {
namespace {

std::string control_of(const FailOpenLog::Share& share) {
  return share.drafts.empty() ? "" : std::string(share.drafts[0].body.at("control").as_string());
}

// The log once kept the first name after the gateway had rejoined under another: its entries
// belonged to an instance that others had declared lost, and the interval was never ended.
// LE-71 SC-33
TEST(FailOpenTest, UnderANewNameAStretchBeginsAnew) {
  test::FakeRecorder recorder;
  FailOpenLog log(recorder);
  FailOpenLog::Share first;
  log.failed("g", "timeout", first);
  const std::string before = recorder.instance_id();
  EXPECT_EQ(control_of(first), "fail_open_started");
  EXPECT_EQ(first.facts.at(0).key, before + "/g");
  recorder.instance = "another";
  FailOpenLog::Share again;
  log.failed("g", "timeout", again);
  EXPECT_EQ(control_of(again), "fail_open_started") << "others have ended the one of before";
  EXPECT_EQ(again.facts.at(0).key, "another/g");
  EXPECT_NE(again.facts.at(0).value->find(R"("calls":1)"), std::string::npos);
  recorder.instance = "a third";
  FailOpenLog::Share worked;
  log.worked("g", worked);
  EXPECT_TRUE(worked.drafts.empty() && worked.facts.empty());
}

}  // namespace
}  // namespace sallyport::core
