// Facts that are too old are removed, with an entry about it.
#include "core/record/retired_facts.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

class RetiredFactsTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    std::vector<Draft> drafts(1);
    drafts.front().facts.push_back({"old", key, value});
    ASSERT_TRUE(test::run_now(recorder.append(std::move(drafts), Urgency::Reports)));
  }
  void retire() {
    const Result<void> done =
        test::run_now(retire_facts(recorder, {{"old", std::chrono::hours(24)}}, clock.wall()));
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string before(std::chrono::hours age) const {
    return R"({"at":")" + rfc3339(clock.wall() - age) + R"("})";
  }
  std::vector<std::string> keys() {
    std::vector<std::string> found;
    for (const Fact& fact : *recorder.facts("old")) found.push_back(fact.key);
    return found;
  }

  test::TestClock clock;
  test::FakeRecorder recorder;
};

// MP-25, MP-62
TEST_F(RetiredFactsTest, WhatIsOlderThanItsTimeGoesAndTheRestStays) {
  put("new", before(std::chrono::hours(23)));
  put("list", "[" + before(std::chrono::hours(99)) + "," + before(std::chrono::hours(1)) + "]");
  put("old", before(std::chrono::hours(25)));
  put("old list", "[" + before(std::chrono::hours(99)) + "]");
  retire();
  EXPECT_EQ(keys(), (std::vector<std::string>{"list", "new"}));
  const Draft& entry = recorder.written.back();
  EXPECT_EQ(entry.topic, "facts");
  EXPECT_EQ(test::text_at(entry, "/record"), "facts_retired");
  EXPECT_EQ(test::text_at(entry, "/count"), "2");
}

// MP-25
TEST_F(RetiredFactsTest, AFactOfAnEarlierReleaseGetsATimeAndGoesWhenThatIsOver) {
  put("undated", R"({"agent_id":"a"})");
  put("word", "aborted");
  retire();
  EXPECT_EQ(keys(), (std::vector<std::string>{"undated"}));
  clock.advance(std::chrono::hours(25));
  retire();
  EXPECT_TRUE(keys().empty());
}

// MP-25
TEST_F(RetiredFactsTest, WhereNothingIsOldNothingIsWrittenAndManyGoInSeveralCommits) {
  put("new", before(std::chrono::hours(1)));
  const std::size_t commits = recorder.commits;
  retire();
  EXPECT_EQ(recorder.commits, commits);
  for (int i = 0; i < 600; ++i) put("k" + std::to_string(i), before(std::chrono::hours(48)));
  const std::size_t later = recorder.commits;
  retire();
  EXPECT_EQ(recorder.commits, later + 3);
  EXPECT_EQ(keys(), (std::vector<std::string>{"new"}));
}

}  // namespace
}  // namespace sallyport::core
