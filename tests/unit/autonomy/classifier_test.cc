#include "autonomy/classifier.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "autonomy/effect_table.h"
#include "core/plan/capability.h"
#include "core/plan/plan.h"

namespace sallyport::autonomy {
namespace {

// The table of the page, typed a second time: class, capability, names.
constexpr const char* kTable = R"(
fs.write workspace.write_text write_file write_file_bytes append_file edit_file create_file apply_patch str_replace Write Edit MultiEdit NotebookEdit
fs.mkdir workspace.write_text mkdir create_directory
fs.copy workspace.write_text copy_file
fs.move workspace.write_text move_file rename_file
fs.delete workspace.delete delete_file remove_file delete_directory rmdir
process.exec process.exec exec exec_at shell shell_at bash Bash KillShell run_command execute_command shell_exec run_terminal_cmd start_process background_start background_stop
git.write git.write git.worktree.create git.worktree.remove git.fetch git.rebase git.push git_add git_commit git_commit_signed git_reset git_checkout git_create_branch git_branch git_fetch git_pull git_push git_merge git_rebase git_stash git_tag git_init git_clone
host.call host.call host_call
store.write store.write store_set store_delete store_save store_clear
metadata.write metadata.write metadata_set metadata_save metadata_refresh_hashes invalidate_facts
checkpoint.write checkpoint.write checkpoint checkpoint_delete checkpoint_clear
network.sse.write network.sse sse_server_response sse_server_send sse_server_heartbeat sse_server_flush sse_server_close sse_server_cancel sse_server_mock_receive sse_server_mock_disconnect
network.request network.http fetch http_request http_get http_post WebFetch WebSearch
agent_state.write agent_state.write __agent_state_write __agent_state_delete __agent_state_handoff
mcp.release mcp.release mcp_release
)";
constexpr const char* kObserving = R"(
mcp-filesystem read_file read_text_file read_media_file read_multiple_files list_directory list_directory_with_sizes directory_tree search_files get_file_info list_allowed_directories
mcp-git git_status git_diff git_diff_unstaged git_diff_staged git_log git_show
claude-code Read Glob Grep LS BashOutput
sallyport-agent read_file list_files search_files background_status memory_search
)";

std::vector<std::vector<std::string>> rows(const char* text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
    if (!row.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

Classifier with(std::vector<ToolEntry> entries, std::map<std::string, std::string> profiles = {}) {
  return *Classifier::build(std::move(entries), std::move(profiles));
}

// AT-21 AT-23
TEST(ClassifierTest, EveryRowOfEffectsHoldsOnAnyServer) {
  std::size_t names = 0;
  for (const std::vector<std::string>& row : rows(kTable)) {
    for (std::size_t i = 2; i < row.size(); ++i, ++names) {
      for (const char* server : {"", "stranger"}) {
        const ToolClass found = Classifier().classify({.server = server, .tool = row[i]});
        const ToolClass wanted{Tier::Confirm, row[0], row[1], ClassSource::Table};
        EXPECT_EQ(found, wanted) << row[i];
      }
      EXPECT_EQ(core::capability_of(row[0]), row[1]);
    }
  }
  std::size_t listed = 0;
  for (const EffectRow& row : effect_rows()) listed += row.names.size();
  EXPECT_EQ(names, listed);
}

// AT-23
TEST(ClassifierTest, EveryObservingRowHoldsOnlyUnderItsProfile) {
  std::size_t names = 0;
  for (const std::vector<std::string>& row : rows(kObserving)) {
    const Classifier classifier = with({}, {{"mine", row[0]}});
    for (std::size_t i = 1; i < row.size(); ++i, ++names) {
      const ToolClass wanted{Tier::Observe, "none", "none", ClassSource::Profile};
      EXPECT_EQ(classifier.classify({.server = "mine", .tool = row[i]}), wanted) << row[i];
      EXPECT_EQ(classifier.classify({.server = "stranger", .tool = row[i]}), ToolClass{}) << row[i];
    }
  }
  std::size_t listed = 0;
  for (const Profile& profile : profiles()) listed += profile.observing.size();
  EXPECT_EQ(names, listed);
  const Classifier git = with({}, {{"mine", "mcp-git"}});
  EXPECT_EQ(git.classify({.server = "mine", .tool = "read_file"}), ToolClass{});
}

// AT-22
TEST(ClassifierTest, TheNearestWordOfThePolicyWins) {
  const ToolEntry here{.server = "files",
                       .tool = "write_file",
                       .tier = Tier::Observe,
                       .effect_class = "none",
                       .capability = "none"};
  const ToolEntry anywhere{
      .tool = "write_file", .effect_class = "fs.delete", .capability = "workspace.delete"};
  const ToolEntry looks{
      .tool = "read_file", .effect_class = "network.request", .capability = "network.http"};
  const Classifier classifier = with({anywhere, here, looks}, {{"files", "mcp-filesystem"}});
  EXPECT_EQ(classifier.classify({.server = "files", .tool = "write_file"}).tier, Tier::Observe);
  EXPECT_EQ(classifier.classify({.server = "other", .tool = "write_file"}).effect_class,
            "fs.delete");
  const ToolClass over_profile = classifier.classify({.server = "files", .tool = "read_file"});
  EXPECT_EQ(over_profile.effect_class, "network.request");
  EXPECT_EQ(over_profile.source, ClassSource::Policy);
  EXPECT_EQ(classifier.classify({.server = "files", .tool = "edit_file"}).source,
            ClassSource::Table);
}

// AT-24
TEST(ClassifierTest, AToolFoundNowhereMayDoAnything) {
  const ToolClass found = Classifier().classify({.server = "s", .tool = "Write_File"});
  EXPECT_EQ(canonical_json(to_json(found)),
            R"({"capability":"unknown","class":"unknown","source":"unknown","tier":"Confirm"})");
}

// AT-21
TEST(ClassifierTest, AClassificationHasFourMembers) {
  EXPECT_EQ(
      canonical_json(to_json(Classifier().classify({.tool = "rmdir"}))),
      R"({"capability":"workspace.delete","class":"fs.delete","source":"table","tier":"Confirm"})");
}

// AT-25
TEST(ClassifierTest, HintsRaiseCautionAndNeverLowerIt) {
  const Classifier classifier = with({}, {{"files", "mcp-filesystem"}});
  const ToolClass raised{.source = ClassSource::Hint};
  EXPECT_EQ(
      classifier.classify({.server = "files", .tool = "read_file", .hints = {.destructive = true}}),
      raised);
  EXPECT_EQ(
      classifier.classify({.server = "files", .tool = "read_file", .hints = {.read_only = false}}),
      raised);
  EXPECT_EQ(classifier
                .classify({.server = "files",
                           .tool = "read_file",
                           .hints = {.read_only = true, .destructive = false}})
                .tier,
            Tier::Observe);
  const ToolHints harmless{.read_only = true, .destructive = false};
  EXPECT_EQ(classifier.classify({.server = "x", .tool = "peek", .hints = harmless}), ToolClass{});
  EXPECT_EQ(classifier.classify({.server = "x", .tool = "rmdir", .hints = harmless}).tier,
            Tier::Confirm);
}

// AT-26
TEST(ClassifierTest, AToolThatChangedIsConfirmedWhoeverClassifiedIt) {
  const ToolEntry entry{.server = "s",
                        .tool = "peek",
                        .tier = Tier::Observe,
                        .effect_class = "none",
                        .capability = "none"};
  const Classifier classifier = with({entry}, {{"files", "mcp-filesystem"}});
  EXPECT_EQ(classifier.classify({.server = "s", .tool = "peek"}).tier, Tier::Observe);
  EXPECT_EQ(classifier.classify({.server = "s", .tool = "peek", .definition_changed = true}),
            ToolClass{});
  EXPECT_EQ(
      classifier.classify({.server = "files", .tool = "read_file", .definition_changed = true}),
      ToolClass{});
}

// AT-22 AT-23
TEST(ClassifierTest, TwoEntriesForOneToolAndUnknownProfilesAreRefused) {
  EXPECT_FALSE(Classifier::build({{.tool = "a"}, {.tool = "a"}}, {}));
  EXPECT_FALSE(Classifier::build({}, {{"files", "mcp-files"}}));
}

// AT-22 AT-23 AT-24
TEST(ClassifierTest, APlanWithTheKnownToolsClassifiesAlike) {
  const std::vector<ToolEntry> policy = {
      {.server = "files", .tool = "write_file", .tier = Tier::Observe, .effect_class = "none"},
      {.tool = "read_file", .effect_class = "network.request"},
      {.tool = "shell", .effect_class = "fs.delete"}};
  const std::map<std::string, std::string> profiles_of = {{"files", "mcp-filesystem"},
                                                          {"repo", "mcp-git"}};
  const Classifier classifier = with(policy, profiles_of);
  core::PlanBuilder builder;
  for (const ToolEntry& entry : known_tools(policy, profiles_of)) {
    builder.tool(entry.server, entry.tool, {entry.tier, entry.effect_class});
  }
  const auto plan = *builder.build();
  std::vector<std::string> names = {"nobody_knows"};
  for (const char* table : {kTable, kObserving}) {
    for (const std::vector<std::string>& row : rows(table)) {
      names.insert(names.end(), row.begin() + 1, row.end());
    }
  }
  for (const std::string& name : names) {
    for (const char* server : {"", "files", "repo", "stranger"}) {
      const Classification& planned = plan->classify({.server = server, .tool = name});
      const ToolClass wanted = classifier.classify({.server = server, .tool = name});
      EXPECT_EQ(planned.tier, wanted.tier) << server << " " << name;
      EXPECT_EQ(planned.effect_class, wanted.effect_class) << server << " " << name;
    }
  }
}

}  // namespace
}  // namespace sallyport::autonomy
