#include "mcp/call/task_owners.h"

#include <gtest/gtest.h>

#include "support/governed.h"

namespace sallyport::mcp {
namespace {

constexpr const char* kGiven = R"({"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t"}}})";

class TaskOwnersTest : public testing::Test {
 protected:
  test::FakeRecorder recorder;
  TaskOwners mine{recorder, "files", "agent:a"};
  TaskOwners theirs{recorder, "files", "agent:b"};
};

// A task whose id could not be read was once shown to every agent.
TEST_F(TaskOwnersTest, AListedTaskWithoutAReadableIdIsHidden) {
  ASSERT_TRUE(test::run_now(mine.note(kGiven, {})));
  const std::string listed =
      R"({"tasks":[{"taskId":7},{"taskId":"t"},{"taskId":""},{"status":"working"}]})";
  EXPECT_EQ(mine.without_foreign(listed), R"({"tasks":[{"taskId":"t"}]})");
  EXPECT_EQ(theirs.without_foreign(listed), R"({"tasks":[]})");
  const TaskOwners alone(recorder, "", "agent:a");
  EXPECT_EQ(alone.without_foreign(listed), listed);
}

// Of two agents that got the same task at the same moment, the last one once owned it.
TEST_F(TaskOwnersTest, ATaskThatHasAnOwnerKeepsIt) {
  recorder.before_append = [&] { EXPECT_TRUE(test::run_now(theirs.note(kGiven, {}))); };
  EXPECT_TRUE(test::run_now(mine.note(kGiven, {})));
  EXPECT_FALSE(theirs.is_foreign("t"));
  EXPECT_TRUE(mine.is_foreign("t"));
}

}  // namespace
}  // namespace sallyport::mcp
