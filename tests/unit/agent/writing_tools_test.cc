#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "agent/tool/file_change.h"
#include "agent/tool/text_diff.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "unit/agent/tool_bench.h"

namespace sallyport::agent {
namespace {

using core::PrepareStep;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string digest(std::string_view text) {
  return hex(sha256(text));
}

class WritingToolsTest : public ToolBench {
 protected:
  PrepareStep prepare(std::string_view tool, json::object input) {
    auto preparation = tools().find(tool)->preparing()->prepare(call(tool, std::move(input)), {});
    return **on_loop<Result<std::optional<PrepareStep>>>(preparation->next());
  }
  Result<Envelope> execute(std::string_view tool, json::object input, const Prepared& prepared) {
    const json::value effective = effective_input(input, prepared);
    return invoke(call(tool, effective.as_object()));
  }
  // Prepares and executes. Returns the text of the failure, or an empty string.
  std::string change(std::string_view tool, const json::object& input) {
    const PrepareStep step = prepare(tool, input);
    if (step.kind != PrepareStep::Kind::Ready) return step.text;
    const auto done = execute(tool, input, step.prepared);
    if (!done) return done.error().message;
    return done->kind == Envelope::Kind::Error ? done->message : "";
  }
  std::vector<std::string> files() {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root())) {
      all.push_back(std::filesystem::relative(entry.path(), root()).string());
    }
    std::ranges::sort(all);
    return all;
  }
};

// RT-36
TEST_F(WritingToolsTest, TheSnapshotSaysWhichFileWhatItWasAndWhatItBecomes) {
  write(root() / "a.txt", "one\ntwo\nthree\n");
  const PrepareStep step =
      prepare("write_file", {{"path", "a.txt"}, {"content", "one\nTWO\nthree\n"}});
  ASSERT_EQ(step.kind, PrepareStep::Kind::Ready) << step.text;
  const json::object& snapshot = step.prepared.snapshot.as_object();
  const std::string path = std::filesystem::canonical(root() / "a.txt").string();
  EXPECT_EQ(snapshot.size(), 4u);
  EXPECT_EQ(snapshot.at("path").as_string(), path);
  EXPECT_EQ(snapshot.at("before_sha256").as_string(), digest("one\ntwo\nthree\n"));
  EXPECT_EQ(snapshot.at("after_sha256").as_string(), digest("one\nTWO\nthree\n"));
  EXPECT_EQ(snapshot.at("diff").as_string(),
            "--- " + path + "\n+++ " + path + "\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n");
  EXPECT_EQ(read(root() / "a.txt"), "one\ntwo\nthree\n") << "preparing changes nothing";
  const PrepareStep fresh = prepare("write_file", {{"path", "new"}, {"content", "x"}});
  EXPECT_TRUE(fresh.prepared.snapshot.as_object().at("before_sha256").is_null());
  EXPECT_THAT(files(), ElementsAre("a.txt"));
}

// RT-36, RT-37: the approved operation is done completely or not at all.
TEST_F(WritingToolsTest, AFileThatChangedSinceIsInvalidatedAndUntouched) {
  write(root() / "a.txt", "old");
  const json::object input{{"path", "a.txt"}, {"content", "new"}};
  const PrepareStep step = prepare("write_file", input);
  write(root() / "a.txt", "other");
  const auto done = execute("write_file", input, step.prepared);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause, "other_revision");
  EXPECT_EQ(read(root() / "a.txt"), "other");
  EXPECT_THAT(files(), ElementsAre("a.txt"));

  const PrepareStep gone = prepare("write_file", input);
  std::filesystem::remove(root() / "a.txt");
  EXPECT_EQ(execute("write_file", input, gone.prepared).error().cause, "other_revision");
  EXPECT_THAT(files(), IsEmpty());

  const PrepareStep fresh = prepare("write_file", input);
  write(root() / "a.txt", "came meanwhile");
  EXPECT_EQ(execute("write_file", input, fresh.prepared).error().cause, "other_revision");
  EXPECT_EQ(read(root() / "a.txt"), "came meanwhile");
}

// RT-37
TEST_F(WritingToolsTest, TheGovernorRecordsAChangedFileAsInvalidated) {
  write(root() / "a.txt", "old");
  test::Governed governed;
  governed.tool = tools().find("write_file");
  governed.plan = core::PlanBuilder().autonomy(Autonomy::ActWithApproval);
  add_agent_tools(governed.plan);
  governed.approver = std::make_shared<test::FunctionApprover>([this](const Question&) {
    write(root() / "a.txt", "other");
    return Reply::approve("user:ada");
  });
  const auto answer = governed.call(call("write_file", {{"path", "a.txt"}, {"content", "new"}}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Invalidated)
      << canonical_json(to_json(answer->outcome));
  EXPECT_EQ(read(root() / "a.txt"), "other");
}

// RT-38
TEST_F(WritingToolsTest, RunAgainAfterACrashItSucceedsAndLeavesNothingBeside) {
  write(root() / "a.txt", "old");
  const json::object input{{"path", "a.txt"}, {"content", "new"}};
  const PrepareStep step = prepare("write_file", input);
  // A crash between the write and the move.
  write(root() / (".sallyport-" + step.prepared.operation_id + ".tmp"), "ne");
  ASSERT_TRUE(execute("write_file", input, step.prepared));
  EXPECT_THAT(files(), ElementsAre("a.txt"));
  // A crash after the move.
  const auto again = execute("write_file", input, step.prepared);
  ASSERT_TRUE(again);
  EXPECT_THAT(tools().find("write_file")->result_of(*again).output, HasSubstr("already"));
  EXPECT_EQ(read(root() / "a.txt"), "new");
  EXPECT_TRUE(tools().find("write_file")->preparing()->outlives_process());
}

// RT-38
TEST_F(WritingToolsTest, TheModeIsKept) {
  write(root() / "run.sh", "old");
  ASSERT_EQ(chmod((root() / "run.sh").c_str(), 0750), 0);
  EXPECT_EQ(change("write_file", {{"path", "run.sh"}, {"content", "new"}}), "");
  struct stat state{};
  ASSERT_EQ(stat((root() / "run.sh").c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 07777, 0750u);
}

// RT-38: a reader sees the old content or the new content, never a part.
TEST_F(WritingToolsTest, AReaderNeverSeesHalfAFile) {
  const std::string a(200'000, 'a');
  const std::string b(300'000, 'b');
  write(root() / "f", a);
  std::atomic<bool> over{false};
  std::atomic<int> torn{0};
  std::thread reader([&] {
    while (!over) {
      const std::string seen = read(root() / "f");
      if (seen != a && seen != b) ++torn;
    }
  });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(change("write_file", {{"path", "f"}, {"content", i % 2 == 0 ? b : a}}), "");
  }
  over = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

// RT-38: a process that is killed at any moment leaves the old or the new content.
TEST_F(WritingToolsTest, AKilledWriterLeavesTheOldOrTheNewContent) {
  const std::string old_text(100'000, 'o');
  const std::string new_text(150'000, 'n');
  for (int i = 0; i < 12; ++i) {
    write(root() / "f", old_text);
    const json::object input{{"path", "f"}, {"content", new_text}};
    const auto roots = *Roots::open(settings_.roots, {});
    const FileChange change = *plan_change(*roots, input);
    const std::string operation = "01890000-0000-7000-8000-000000000000";
    const pid_t child = fork();
    if (child == 0) {
      (void)apply_change(*roots, input, change, operation);
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(150 * i));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string found = read(root() / "f");
    EXPECT_TRUE(found == old_text || found == new_text) << found.size();
    EXPECT_TRUE(apply_change(*roots, input, change, operation));
    EXPECT_EQ(read(root() / "f"), new_text);
    EXPECT_THAT(files(), ElementsAre("f"));
  }
}

// RT-39
TEST_F(WritingToolsTest, AnEditNeedsTextThatOccursOnceOrSaysAll) {
  write(root() / "a.txt", "red blue red");
  EXPECT_THAT(change("edit_file", {{"path", "a.txt"}, {"old", "green"}, {"new", "x"}}),
              HasSubstr("does not occur"));
  EXPECT_THAT(change("edit_file", {{"path", "a.txt"}, {"old", "red"}, {"new", "x"}}),
              HasSubstr("occurs 2 times"));
  EXPECT_THAT(change("edit_file", {{"path", "a.txt"}, {"old", ""}, {"new", "x"}}),
              HasSubstr("`old` is empty"));
  EXPECT_THAT(change("edit_file", {{"path", "b.txt"}, {"old", "red"}, {"new", "x"}}),
              HasSubstr("no such file"));
  EXPECT_EQ(read(root() / "a.txt"), "red blue red");
  EXPECT_EQ(change("edit_file", {{"path", "a.txt"}, {"old", "blue"}, {"new", "red"}}), "");
  EXPECT_EQ(
      change("edit_file", {{"path", "a.txt"}, {"old", "red"}, {"new", "redder"}, {"all", true}}),
      "");
  EXPECT_EQ(read(root() / "a.txt"), "redder redder redder");
  write(root() / "b.bin", std::string("a\0b", 3));
  EXPECT_THAT(change("edit_file", {{"path", "b.bin"}, {"old", "a"}, {"new", "x"}}),
              HasSubstr("binary"));
}

// RT-29, RT-30, RT-32, EV-42
TEST_F(WritingToolsTest, APathOutsideIsRefusedWhileItIsPreparedAndToldBetweenTheDecision) {
  std::filesystem::create_directories(folder_ / "readonly");
  settings_.roots.push_back({.path = folder_ / "readonly"});
  const PrepareStep readonly =
      prepare("write_file", {{"path", (folder_ / "readonly/x").string()}, {"content", "x"}});
  EXPECT_EQ(readonly.kind, PrepareStep::Kind::Refused);
  EXPECT_THAT(readonly.text, HasSubstr("without `write`"));

  test::Governed governed;
  governed.tool = tools().find("write_file");
  const auto answer = governed.call(call("write_file", {{"path", "../x"}, {"content", "x"}}));
  ASSERT_TRUE(answer);
  EXPECT_THAT(governed.recorder.events(),
              ElementsAre("tool_authorization_started", "authorization_denied",
                          "tool_authorization_finished(deny)", "tool_authorization_blocked(deny)"));
  const core::Draft denied = governed.recorder.of(core::Kind::Event)[1];
  EXPECT_EQ(test::text_at(denied, "/action"), "write_file");
  EXPECT_EQ(test::text_at(denied, "/detail"), "../x");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

// RT-29
TEST_F(WritingToolsTest, WithoutAWritableRootThereIsNoToolThatWrites) {
  settings_.roots = {{.path = root()}};
  EXPECT_EQ(tools().find("write_file"), nullptr);
  EXPECT_EQ(tools().find("edit_file"), nullptr);
}

// RT-30, RT-32: the path changes between preparation and execution.
TEST_F(WritingToolsTest, ALinkThatComesBetweenPreparationAndExecutionIsRefused) {
  write(root() / "d/f", "old");
  write(folder_ / "outside/f", "old");
  const json::object input{{"path", "d/f"}, {"content", "new"}};
  const PrepareStep step = prepare("write_file", input);
  std::filesystem::rename(root() / "d", root() / "d2");
  std::filesystem::create_symlink(folder_ / "outside", root() / "d");
  const auto done = execute("write_file", input, step.prepared);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->kind, Envelope::Kind::Error);
  EXPECT_THAT(denials(), ElementsAre("write_file: d/f"));
  EXPECT_EQ(read(folder_ / "outside/f"), "old");
  EXPECT_EQ(read(root() / "d2/f"), "old");
}

// RT-33
TEST_F(WritingToolsTest, OnlyRegularFilesAreWritten) {
  ASSERT_EQ(mkfifo((root() / "pipe").c_str(), 0600), 0);
  const PrepareStep step = prepare("write_file", {{"path", "pipe"}, {"content", "x"}});
  EXPECT_EQ(step.kind, PrepareStep::Kind::Refused);
  EXPECT_THAT(change("write_file", {{"path", "."}, {"content", "x"}}), HasSubstr("folder"));
}

TEST_F(WritingToolsTest, MissingFoldersAreMade) {
  EXPECT_EQ(change("write_file", {{"path", "a/b/c.txt"}, {"content", "x"}}), "");
  EXPECT_EQ(read(root() / "a/b/c.txt"), "x");
}

// The event named a path that leads nowhere outside, and the text called the file a device.
// EV-10 (partly) RT-32 (partly)
TEST_F(WritingToolsTest, APathThroughAFileIsAnErrorAndNoRefusal) {
  write(root() / "a.txt", "x");
  const PrepareStep step = prepare("write_file", {{"path", "a.txt/b"}, {"content", "x"}});
  EXPECT_EQ(step.kind, PrepareStep::Kind::Invalid);
  EXPECT_EQ(step.text, "`a.txt/b` goes through `a.txt`, which is not a folder");
}

TEST_F(WritingToolsTest, WhatWasNotPreparedIsNotExecuted) {
  const auto done = invoke(call("write_file", {{"path", "a"}, {"content", "x"}}));
  EXPECT_FALSE(done);
  const auto forged =
      invoke(call("write_file", {{"requested_input", {{"path", "a"}, {"content", "x"}}},
                                 {"prepared_snapshot", {{"path", "a"}, {"after_sha256", "00"}}},
                                 {"operation_id", "../../evil"},
                                 {"revision", 1}}));
  EXPECT_FALSE(forged);
  EXPECT_THAT(files(), IsEmpty());
}

TEST(TextDiffTest, IsUnifiedBoundedAndSaysWhatItLeavesOut) {
  EXPECT_EQ(unified_diff("a\n", "a\n", "f", 1000), "");
  EXPECT_EQ(unified_diff("", "a\nb", "f", 1000),
            "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
  EXPECT_EQ(unified_diff("a\n", "", "f", 1000), "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n");
  std::string before;
  std::string after;
  for (int i = 0; i < 30; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 5 || i == 25 ? "x" : std::to_string(i)) + "\n";
  }
  EXPECT_EQ(unified_diff(before, after, "f", 1000),
            "--- f\n+++ f\n@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"
            "@@ -23,7 +23,7 @@\n 22\n 23\n 24\n-25\n+x\n 26\n 27\n 28\n");
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += std::to_string(i) + "\n";
  const std::string cut = unified_diff(before, many, "f", 4096);
  EXPECT_LT(cut.size(), 4200u);
  EXPECT_THAT(cut, EndsWith("more lines of the difference]\n"));
}

}  // namespace
}  // namespace sallyport::agent
