#include "app/watch/policy_watch.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/governed.h"
#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

class PolicyWatchTest : public testing::Test {
 protected:
  void write(const std::string& word) const {
    std::ofstream(file_) << "version: 1\nguardrails: {checks: [{type: " << word
                         << ", stage: output, words: [one]}]}\n";
  }
  static Async<bool> look_at(PolicyWatch& watch) {
    co_await watch.look_now();
    co_return true;
  }
  bool look_now() { return test::run_now(look_at(watch_)); }
  json::value newest_control() const { return recorder_.written.back().body.at("control"); }

  test::TempFolder folder_;
  std::filesystem::path file_ = folder_.path() / "policy.yaml";
  SystemClock clock_;
  SystemEntropy entropy_;
  test::FakeRecorder recorder_;
  core::PlanShelf plans_{recorder_};
  policy::PolicyLoader loader_{policy::PolicyOrigin::file(file_), {clock_, entropy_, "key"}};
  std::vector<std::string> lines_;
  PolicyWatch watch_{loader_, plans_, "uid:dana",
                     [this](std::string_view line) { lines_.emplace_back(line); }};
};

TEST_F(PolicyWatchTest, AReplacedPolicyIsInForceAfterALookThatDoesNotWait) {
  write("blocklist");
  ASSERT_TRUE(test::run_now(watch_.load()));
  const std::string before = plans_.current()->hash();
  std::ofstream(file_) << "version: 1\n";
  ASSERT_TRUE(look_now());
  EXPECT_NE(plans_.current()->hash(), before);
  EXPECT_EQ(newest_control(), "policy_loaded");
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_TRUE(lines_[0].starts_with("a new policy is in force")) << lines_[0];
}

TEST_F(PolicyWatchTest, ARefusedPolicyIsRecordedAndTheLastGoodOneStays) {
  write("blocklist");
  ASSERT_TRUE(test::run_now(watch_.load()));
  const std::string before = plans_.current()->hash();
  write("nothing");
  ASSERT_TRUE(look_now());
  EXPECT_EQ(plans_.current()->hash(), before);
  EXPECT_EQ(newest_control(), "policy_rejected");
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_TRUE(lines_[0].starts_with("the policy was refused")) << lines_[0];
}

}  // namespace
}  // namespace sallyport::app
