#include "people/agent_ancestry.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

Context context_in(const std::filesystem::path& folder) {
  return {.globals = {.data_dir = folder}, .environment = {}, .terminal = Terminal({})};
}

void write(const std::filesystem::path& folder, core::Fact fact) {
  auto workspace = Workspace::open_writing({.data_dir = folder}, {.role = "test"});
  ASSERT_TRUE(workspace) << workspace.error().message;
  core::Draft draft{.kind = core::Kind::Event, .body = {{"n", 1}}};
  draft.facts.push_back(std::move(fact));
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(draft));
  ASSERT_TRUE((*workspace)->ledger().append_blocking(std::move(drafts), core::Urgency::Reports));
}

// AP-29 (partly)
TEST(AgentAncestryTest, AProcessKnowsItselfAndItsAncestors) {
  const Result<std::vector<std::string>> keys = ancestry();
  ASSERT_TRUE(keys) << keys.error().message;
  ASSERT_GE(keys->size(), 2u);
  EXPECT_EQ(keys->at(0), process_key(getpid()));
  EXPECT_EQ(keys->at(1), process_key(getppid()));
  EXPECT_FALSE(process_key(-1));
}

// AP-29 (partly)
TEST(AgentAncestryTest, WhatDescendsFromAnAgentIsRefusedAndRecorded) {
  const test::TempFolder folder;
  const std::filesystem::path data = folder.path() / "data";
  write(data, governs(getppid(), "agent:coder"));
  const Result<void> refused = refuse_agents(context_in(data), "approvals init");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Unauthenticated);
  EXPECT_NE(refused.error().message.find("agent:coder"), std::string::npos);
  auto workspace = Workspace::open_reading({.data_dir = data});
  ASSERT_TRUE(workspace);
  bool recorded = false;
  ASSERT_TRUE((*workspace)->store().read([&](ledger::ReadView& view) -> Result<void> {
    return view.scan(0, *view.size(), [&](const ledger::StoredEntry& entry) -> Result<bool> {
      recorded = recorded || entry.bytes->find("refused_control") != std::string::npos;
      return true;
    });
  }));
  EXPECT_TRUE(recorded);
  write(data, *unregistered_process(getppid()));
  EXPECT_TRUE(refuse_agents(context_in(data), "approvals init"));
}

// AP-29 (partly)
TEST(AgentAncestryTest, TheEnvironmentOfAnAgentIsEnough) {
  const test::TempFolder folder;
  Context context = context_in(folder.path() / "data");
  EXPECT_TRUE(refuse_agents(context, "trust promote"));
  context.environment.agent = "agent:coder";
  EXPECT_FALSE(refuse_agents(context, "trust promote"));
}

}  // namespace
}  // namespace sallyport::app
