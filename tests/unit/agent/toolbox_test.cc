#include <sys/stat.h>

#include <thread>

#include "agent/tool/own_tool.h"
#include "unit/agent/tool_bench.h"

namespace sallyport::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ToolboxTest : public ToolBench {
 protected:
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const OfferedTool& tool : tools().offered()) all.push_back(tool.name);
    return all;
  }
  std::string error_of_open() {
    const auto opened = open();
    return opened ? "" : opened.error().message;
  }
};

// RT-27
TEST_F(ToolboxTest, ANameOutsideTheListIsNoTool) {
  EXPECT_EQ(tools().find("format_disk"), nullptr);
  EXPECT_FALSE(tools().replay_safe("format_disk"));
}

// RT-26 (partly)
TEST_F(ToolboxTest, WithoutRootsThereAreNoToolsForFiles) {
  settings_.roots.clear();
  EXPECT_THAT(names(), ElementsAre("memory_search"));
  EXPECT_THAT(tools().roots(), IsEmpty());
}

// RT-26 (partly)
TEST_F(ToolboxTest, ToolsThatOnlyLookMayRunAgain) {
  for (const char* tool : {"read_file", "list_files", "search_files", "memory_search"}) {
    EXPECT_TRUE(tools().replay_safe(tool)) << tool;
  }
}

// RT-89
TEST_F(ToolboxTest, RootsThatCannotBeAreErrorsThatNameTheKey) {
  settings_.roots = {{.path = folder_ / "absent"}};
  EXPECT_THAT(error_of_open(), HasSubstr("agent.roots[0].path"));
  write(folder_ / "file", "x");
  settings_.roots = {{.path = root()}, {.path = folder_ / "file"}};
  EXPECT_THAT(error_of_open(), HasSubstr("agent.roots[1].path"));
  std::filesystem::create_directories(root() / "inner");
  settings_.roots = {{.path = root(), .write = true}, {.path = root() / "inner"}};
  EXPECT_THAT(error_of_open(), HasSubstr("agent.roots[1]"));
  settings_.roots[1].write = true;
  EXPECT_THAT(error_of_open(), IsEmpty());
}

// RT-28, RT-34
TEST_F(ToolboxTest, AFileIsReadByLinesAndTheEndOfAPieceSaysHowToReadOn) {
  std::string text;
  for (int i = 1; i <= 3000; ++i) text += "line " + std::to_string(i) + "\n";
  write(root() / "a.txt", text);
  const ToolResult all = use("read_file", {{"path", "a.txt"}});
  EXPECT_TRUE(all.success);
  EXPECT_LE(std::ranges::count(all.output, '\n'), 2000);
  EXPECT_THAT(all.output, HasSubstr("read on with offset 2000"));
  const ToolResult some = use("read_file", {{"path", "a.txt"}, {"offset", 2999}, {"limit", 5}});
  EXPECT_EQ(some.output, "line 2999\nline 3000");
  // A count that came as `2999.0` passed the schema and was then ignored.
  EXPECT_EQ(use("read_file", {{"path", "a.txt"}, {"offset", 2999.0}, {"limit", 1.0}}).output,
            "line 2999\n[lines 3000 to 3000 left out; read on with offset 3000]");
  write(root() / "b.bin", std::string("\x7f"
                                      "ELF\0\1",
                                      6));
  EXPECT_THAT(use("read_file", {{"path", "b.bin"}}).output,
              HasSubstr("6 bytes, type application/x-executable"));
}

// RT-22, RT-92
TEST_F(ToolboxTest, AnInputThatDoesNotFitIsAnErrorThatNamesTheArgument) {
  EXPECT_THAT(use("read_file", {}).output, HasSubstr("path"));
  EXPECT_THAT(use("read_file", {{"path", 3}}).output, HasSubstr("path"));
  EXPECT_THAT(use("read_file", {{"path", "a"}, {"mode", "x"}}).output, HasSubstr("mode"));
  EXPECT_THAT(use("read_file", {{"path", std::string("a\0b", 3)}}).output, HasSubstr("`path`"));
  EXPECT_THAT(use("read_file", {{"path", std::string(4097, 'a')}}).output, HasSubstr("`path`"));
  EXPECT_THAT(use("search_files", {{"pattern", "("}}).output, HasSubstr("`pattern`"));
  EXPECT_THAT(denials(), IsEmpty());
}

// RT-30, RT-31, RT-32
TEST_F(ToolboxTest, ARefusalIsAnEventWithTheToolAndThePathAsGiven) {
  settings_.roots[0].deny = {"secret/**"};
  write(root() / "secret/key", "k");
  write(folder_ / "outside", "o");
  std::filesystem::create_symlink(folder_ / "outside", root() / "link");
  EXPECT_FALSE(use("read_file", {{"path", "../outside"}}).success);
  EXPECT_FALSE(use("read_file", {{"path", "link"}}).success);
  EXPECT_FALSE(use("list_files", {{"path", "secret"}}).success);
  EXPECT_FALSE(use("search_files", {{"pattern", "k"}, {"path", "secret/key"}}).success);
  EXPECT_THAT(denials(), ElementsAre("read_file: ../outside", "read_file: link",
                                     "list_files: secret", "search_files: secret/key"));
  EXPECT_THAT(use("search_files", {{"pattern", "k"}}).output, HasSubstr("no match"));
}

// RT-33
TEST_F(ToolboxTest, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo((root() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(use("read_file", {{"path", "pipe"}}).output, HasSubstr("a pipe"));
  EXPECT_THAT(denials(), ElementsAre("read_file: pipe"));
}

// RT-34, RT-35
TEST_F(ToolboxTest, SearchSkipsBinaryFilesAndSaysWhyItStopped) {
  write(root() / "a.txt", "one\ntwo one\n");
  write(root() / "b.bin", std::string("one\0one", 7));
  EXPECT_EQ(use("search_files", {{"pattern", "one"}}).output, "a.txt:1: one\na.txt:2: two one");
  EXPECT_THAT(use("search_files", {{"pattern", "one"}, {"limit", 1}}).output,
              HasSubstr("stopped at the limit of 1 matches"));
}

// Names below `path` were shown without it, so that `read_file` did not find them.
// RT-35
TEST_F(ToolboxTest, AFileThatSearchNamesCanBeRead) {
  std::filesystem::create_directories(root() / "d/e");
  write(root() / "d/e/b.txt", "one\ntwo\n");
  EXPECT_EQ(use("search_files", {{"pattern", "two"}, {"path", "d"}}).output, "d/e/b.txt:2: two");
  EXPECT_EQ(use("search_files", {{"pattern", "two"}, {"path", "."}}).output, "d/e/b.txt:2: two");
  EXPECT_TRUE(use("read_file", {{"path", "d/e/b.txt"}}).success);
}

// RT-29, RT-30: tools never find Sallyport's data folder, even if a root contains it.
TEST_F(ToolboxTest, TheDataFolderIsNotReadEvenInsideARoot) {
  settings_.roots = {{.path = folder_.path(), .write = true}};
  write(data() / "ledger.db", "l");
  EXPECT_THAT(use("read_file", {{"path", "data/ledger.db"}}).output, HasSubstr("data folder"));
  EXPECT_THAT(use("list_files", {{"path", "."}}).output, Not(HasSubstr("data/")));
  EXPECT_THAT(denials(), ElementsAre("read_file: data/ledger.db"));
}

// RT-30: a link is swapped in while the file is being resolved.
TEST_F(ToolboxTest, ALinkThatIsSwappedInDuringTheCallLeadsNowhere) {
  write(folder_ / "outside/f", "outside");
  write(root() / "inside/f", "inside");
  std::filesystem::create_symlink(folder_ / "outside", root() / "link");
  std::atomic<bool> stop{false};
  std::thread swapper([&] {
    while (!stop) {
      (void)renameat2(AT_FDCWD, (root() / "inside").c_str(), AT_FDCWD, (root() / "link").c_str(),
                      RENAME_EXCHANGE);
    }
  });
  for (int i = 0; i < 300; ++i) {
    const ToolResult result = use("read_file", {{"path", "inside/f"}});
    EXPECT_TRUE(!result.success || result.output == "inside") << result.output;
  }
  stop = true;
  swapper.join();
}

// RT-54, RT-55, RT-26 (partly)
TEST_F(ToolboxTest, MemoryIsSearchedByWordsForThisAgentOnlyAndToldInAPairOfEvents) {
  ASSERT_TRUE(store_->ingest(
      "s-1", 1,
      {.id = "episode:writer:s-1:1", .agent_id = "writer", .text = "the bridge is blue"}));
  ASSERT_TRUE(store_->pin({.id = "pin:x", .agent_id = "other", .text = "the bridge is red"}));
  const ToolResult found = use("memory_search", {{"query", "bridge\" OR *"}});
  EXPECT_TRUE(found.success);
  EXPECT_THAT(found.output, HasSubstr("the bridge is blue"));
  EXPECT_THAT(found.output, Not(HasSubstr("red")));
  EXPECT_EQ(found.data.at("records").as_array().size(), 1u);
  EXPECT_THAT(recorder_.events(), ElementsAre("memory_search_started", "memory_search_finished"));
  EXPECT_THAT(use("memory_search", {{"query", "submarine"}}).output, HasSubstr("nothing"));
}

// EV-23: text in an event is redacted before it is cut.
TEST_F(ToolboxTest, TheQueryIsOnRecordWithoutItsSecrets) {
  EXPECT_TRUE(use("memory_search", {{"query", std::string(100, 'a') + " hunter2"}}).success);
  const core::Draft started = recorder_.of(core::Kind::Event).front();
  EXPECT_EQ(test::text_at(started, "/query_preview"), std::string(100, 'a') + " [REDACTED:test]");
}

TEST_F(ToolboxTest, MemoryIsEditedOnlyWhereTheConfigurationSaysSo) {
  EXPECT_EQ(tools().find("memory_pin"), nullptr);
  EXPECT_EQ(tools().find("memory_forget"), nullptr);
}

class MemoryEditTest : public ToolboxTest {
 protected:
  MemoryEditTest() { settings_.memory.edit = true; }
};

TEST_F(MemoryEditTest, WhatIsPinnedIsFoundWithoutItsSecretsAndForgottenOnDemand) {
  const ToolResult pinned = use("memory_pin", {{"text", "the door code is hunter2"}});
  ASSERT_TRUE(pinned.success) << pinned.output;
  const std::string id(pinned.data.at("record_id").as_string());
  EXPECT_THAT(id, testing::StartsWith("pin:"));
  const ToolResult found = use("memory_search", {{"query", "door"}});
  EXPECT_THAT(found.output, HasSubstr("the door code is [REDACTED:test]"));
  Call other = call("memory_forget", {{"record_id", id}});
  other.agent_id = "other";
  EXPECT_EQ(invoke(other)->kind, Envelope::Kind::Error) << "of another agent";
  EXPECT_TRUE(use("memory_forget", {{"record_id", id}}).success);
  EXPECT_FALSE(use("memory_forget", {{"record_id", id}}).success);
  EXPECT_THAT(use("memory_search", {{"query", "door"}}).output, HasSubstr("nothing"));
  EXPECT_FALSE(use("memory_pin", {{"text", " "}}).success);
  EXPECT_FALSE(use("memory_pin", {{"text", std::string(20'000, 'x')}}).success);
  EXPECT_FALSE(tools().replay_safe("memory_pin"));
}

// Both wait for an approver unless the policy permits them.
TEST_F(MemoryEditTest, EditsOfMemoryAreConfirmed) {
  core::PlanBuilder builder = core::PlanBuilder().autonomy(Autonomy::ActWithApproval);
  add_agent_tools(builder);
  const auto plan = *builder.build();
  for (const char* tool : {"memory_pin", "memory_forget"}) {
    const Classification found = plan->classify(call(tool, {}));
    EXPECT_EQ(found.tier, Tier::Confirm) << tool;
    EXPECT_EQ(found.effect_class, "store.write") << tool;
  }
}

}  // namespace
}  // namespace sallyport::agent
