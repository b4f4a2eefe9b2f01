#include <signal.h>

#include "base/race.h"
#include "support/running_tasks.h"
#include "unit/agent/tool_bench.h"

namespace sallyport::agent {
namespace {

using sessions::BackgroundTask;
using sessions::TaskStatus;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class BackgroundToolsTest : public ToolBench {
 protected:
  BackgroundToolsTest() { settings_.shell = ShellSettings{}; }

  std::string start(const std::string& command, std::string_view call_id = "c-1") {
    const auto answered =
        invoke(call("background_start", {{"command", command}}, std::string(call_id)));
    const ToolResult result = tools().find("background_start")->result_of(*answered);
    EXPECT_TRUE(result.success) << result.output;
    return result.success ? std::string(result.data.at("task_id").as_string()) : "";
  }
  BackgroundTask row(const std::string& id) { return **store_->task("writer", id); }

  // Lets the loop run until the end of the task is recorded.
  BackgroundTask ended(const std::string& id) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end) {
      loop_.restart();
      loop_.run_one_for(20ms);
      const std::string finish = last_event("background_task_finished", id);
      if (!finish.empty()) return row(id);
    }
    ADD_FAILURE() << "task " << id << " does not end";
    return {};
  }
  std::string last_event(std::string_view kind, const std::string& id) {
    std::string status;
    for (const core::Draft& draft : recorder_.of(core::Kind::Event)) {
      if (test::text_at(draft, "/kind") != kind || test::text_at(draft, "/task_id") != id) continue;
      status = test::text_at(draft, "/status");
    }
    return status;
  }
};

// RT-46, RT-47, RT-49, RT-50, EV-21, EV-22
TEST_F(BackgroundToolsTest, ATaskRunsBesideItsCallAndItsEndIsOnRecord) {
  const std::string id = start("echo one; echo two >&2; exit 0");
  EXPECT_EQ(recorder_.events().front(), "background_task_started");
  const core::Draft begun = recorder_.of(core::Kind::Event).front();
  EXPECT_EQ(test::text_at(begun, "/command"), "echo one; echo two >&2; exit 0");
  EXPECT_EQ(test::text_at(begun, "/cwd"), std::filesystem::canonical(root()).string());
  EXPECT_EQ(begun.subject->call_id, "c-1");
  const BackgroundTask task = ended(id);
  EXPECT_EQ(task.status, TaskStatus::Finished);
  EXPECT_EQ(task.exit_code, 0);
  EXPECT_EQ(task.output, "one\ntwo\n");
  EXPECT_EQ(last_event("background_task_finished", id), "finished");
  const ToolResult status = use("background_status", {{"task_id", id}});
  EXPECT_EQ(status.output, "one\ntwo\n[finished, exit code 0]");
  EXPECT_EQ(status.data.at("status").as_string(), "finished");
  // RT-51: the notice is left for the run.
  EXPECT_THAT(*store_->unnoticed_tasks("s-1"), SizeIs(1));
}

// RT-46
TEST_F(BackgroundToolsTest, TaskIdsAreUnique) {
  std::set<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.insert(start("sleep 100", "c-" + std::to_string(i)));
  EXPECT_THAT(ids, SizeIs(5));
}

// RT-49
TEST_F(BackgroundToolsTest, AnyOtherEndIsAFailure) {
  const BackgroundTask code = ended(start("exit 4"));
  EXPECT_EQ(code.status, TaskStatus::Failed);
  EXPECT_EQ(code.exit_code, 4);
  const BackgroundTask signal = ended(start("kill -KILL $$", "c-2"));
  EXPECT_EQ(signal.status, TaskStatus::Failed);
  EXPECT_EQ(signal.signal, SIGKILL);
}

// RT-49
TEST_F(BackgroundToolsTest, ATaskThatRunsTooLongFails) {
  settings_.background.max_runtime = 1s;
  EXPECT_EQ(ended(start("sleep 100")).status, TaskStatus::Failed);
}

// RT-47, EV-60
TEST_F(BackgroundToolsTest, ATaskThatCannotBeAnnouncedIsNotSpawned) {
  hook_refuses_ = Error{ErrorCode::Unavailable, "the listener is down"};
  const ToolResult result = use("background_start", {{"command", "touch made"}});
  EXPECT_FALSE(result.success);
  hook_refuses_.reset();
  EXPECT_THAT(recorder_.events(),
              ElementsAre("background_task_started", "background_task_finished"));
  const auto untold = *store_->unnoticed_tasks("s-1");
  ASSERT_THAT(untold, SizeIs(1));
  EXPECT_EQ(untold[0].status, TaskStatus::Failed);
  EXPECT_FALSE(std::filesystem::exists(root() / "made"));
}

// RT-47
TEST_F(BackgroundToolsTest, WithoutARowNothingIsAnnouncedAndNothingRuns) {
  lease_.epoch += 1;
  EXPECT_FALSE(use("background_start", {{"command", "touch made"}}).success);
  EXPECT_THAT(recorder_.events(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(root() / "made"));
}

// RT-48
TEST_F(BackgroundToolsTest, OverTheLimitTheStartIsRefusedAndTold) {
  settings_.background.max_running = 2;
  start("sleep 100");
  const std::string second = start("sleep 100", "c-2");
  EXPECT_FALSE(use("background_start", {{"command", "touch made"}}).success);
  EXPECT_THAT(denials(), ElementsAre(StartsWith("background_limit: 2 background commands")));
  EXPECT_FALSE(std::filesystem::exists(root() / "made"));
  EXPECT_TRUE(use("background_stop", {{"task_id", second}}).success);
  start("sleep 100", "c-3");
}

// RT-32, RT-40
TEST_F(BackgroundToolsTest, AFolderOutsideTheRootsIsRefused) {
  EXPECT_FALSE(use("background_start", {{"command", "true"}, {"cwd", "/"}}).success);
  EXPECT_THAT(denials(), ElementsAre("background_start: /"));
  EXPECT_THAT(*store_->unnoticed_tasks("s-1"), IsEmpty());
}

// RT-50
TEST_F(BackgroundToolsTest, OutputSoFarIsSeenWhileItRunsAndOneMiBOfItIsKept) {
  const std::string id = start(
      "echo first; head -c 2000000 /dev/zero | tr '\\0' x; echo; echo last; touch written; sleep "
      "100");
  ASSERT_TRUE(eventually([&] {
    loop_.restart();
    loop_.run_one_for(1ms);
    return std::filesystem::exists(root() / "written");
  }));
  const ToolResult seen = use("background_status", {{"task_id", id}});
  EXPECT_TRUE(seen.success);
  EXPECT_THAT(seen.output, StartsWith("first\nxxx"));
  EXPECT_THAT(seen.output, HasSubstr("[running"));
  EXPECT_LE(seen.output.size(), kMostBytes);
  const ToolResult stopped = use("background_stop", {{"task_id", id}});
  EXPECT_TRUE(stopped.success);
  const BackgroundTask task = row(id);
  EXPECT_EQ(task.output.size(), sessions::kTaskOutputBytes);
  EXPECT_EQ(task.output.size() + task.output_dropped, 6u + 2'000'000u + 1u + 5u);
}

// RT-28
TEST_F(BackgroundToolsTest, TheLastLinesAreShownWhereTheyAreAskedFor) {
  const std::string id = start("seq 5000");
  ended(id);
  EXPECT_EQ(use("background_status", {{"task_id", id}, {"tail", 2}}).output,
            "4999\n5000\n[23883 bytes before that are left out; ask for a larger `tail`]\n"
            "[finished, exit code 0]");
  const ToolResult whole = use("background_status", {{"task_id", id}});
  EXPECT_THAT(whole.output, HasSubstr("ask with `tail`"));
  EXPECT_LE(std::ranges::count(whole.output, '\n'), 2000);
}

// RT-49, EV-22
TEST_F(BackgroundToolsTest, AStopEndsTheGroupAsInterrupted) {
  const std::string id = start("echo $$ > pid; sleep 300 & wait");
  ASSERT_TRUE(eventually([&] { return read(root() / "pid").ends_with('\n'); }));
  const pid_t pid = std::stoi(read(root() / "pid"));
  const ToolResult stopped = use("background_stop", {{"task_id", id}});
  EXPECT_TRUE(stopped.success) << stopped.output;
  EXPECT_THAT(stopped.output, StartsWith("[interrupted"));
  EXPECT_FALSE(is_running(pid));
  EXPECT_EQ(row(id).status, TaskStatus::Interrupted);
  EXPECT_EQ(last_event("background_task_finished", id), "interrupted");
  EXPECT_THAT(use("background_stop", {{"task_id", id}}).output, StartsWith("[interrupted"));
}

TEST_F(BackgroundToolsTest, OnlyTasksOfThisAgentAreSeen) {
  EXPECT_THAT(use("background_status", {{"task_id", "x"}}).output, HasSubstr("no task"));
  const std::string id = start("sleep 100");
  Call other = call("background_stop", {{"task_id", id}});
  other.agent_id = "other";
  EXPECT_EQ(invoke(other)->kind, Envelope::Kind::Error);
  EXPECT_EQ(row(id).status, TaskStatus::Running);
}

// RT-52
TEST_F(BackgroundToolsTest, AtAnOrderlyEndAllTasksAreStoppedAndOnRecord) {
  const std::string polite = start("sleep 300");
  const std::string deaf = start("trap '' TERM; while :; do sleep 1; done", "c-2");
  const auto begin = std::chrono::steady_clock::now();
  stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
  for (const std::string& id : {polite, deaf}) {
    EXPECT_EQ(row(id).status, TaskStatus::Interrupted);
    EXPECT_EQ(last_event("background_task_finished", id), "interrupted");
  }
  EXPECT_THAT(use("background_start", {{"command", "true"}}).output, HasSubstr("ending"));
}

// RT-84 (partly): an abandoned call leaves no process and no open row.
TEST_F(BackgroundToolsTest, AStartWhoseCallerGoesAwayEndsAsInterrupted) {
  test::Governed governed;
  const auto tool = tools().find("background_start");
  const auto given_up = [&]() -> Async<bool> {
    const auto raced = co_await race<Result<Envelope>>(
        tool->invoke(call("background_start", {{"command", "sleep 300"}}), nullptr, {}),
        std::chrono::steady_clock::now(), {});
    co_return raced.finish == Finish::Deadline;
  };
  EXPECT_TRUE(on_loop<bool>(given_up()));
  ASSERT_TRUE(eventually([&] {
    loop_.restart();
    loop_.run_one_for(5ms);
    return test::running_tasks(*store_, "writer") == 0;
  }));
  stop();
  EXPECT_EQ(test::running_tasks(*store_, "writer"), 0u);
}

// An entry holds at most 65,535 bytes, for a command of any length.
TEST_F(BackgroundToolsTest, ALongCommandIsCutInTheEventAndWholeInTheRow) {
  const std::string command = ": " + std::string(60'000, '\x01');
  const std::string id = start(command);
  const core::Draft begun = recorder_.of(core::Kind::Event).front();
  EXPECT_LE(canonical_json(begun.body.members()).size(), 60'000u);
  EXPECT_EQ(row(id).command, command);
}

}  // namespace
}  // namespace sallyport::agent
