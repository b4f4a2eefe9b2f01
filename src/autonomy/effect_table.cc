#include "autonomy/effect_table.h"

#include <algorithm>

namespace sallyport::autonomy {

namespace {

using Name = std::string_view;

constexpr Name kWrites[] = {"write_file",  "write_file_bytes", "append_file", "edit_file",
                            "create_file", "apply_patch",      "str_replace", "Write",
                            "Edit",        "MultiEdit",        "NotebookEdit"};
constexpr Name kMakesFolders[] = {"mkdir", "create_directory"};
constexpr Name kCopies[] = {"copy_file"};
constexpr Name kMoves[] = {"move_file", "rename_file"};
constexpr Name kDeletes[] = {"delete_file", "remove_file", "delete_directory", "rmdir"};
constexpr Name kExecutes[] = {"exec",
                              "exec_at",
                              "shell",
                              "shell_at",
                              "bash",
                              "Bash",
                              "KillShell",
                              "run_command",
                              "execute_command",
                              "shell_exec",
                              "run_terminal_cmd",
                              "start_process",
                              "background_start",
                              "background_stop"};
constexpr Name kChangesGit[] = {"git.worktree.create",
                                "git.worktree.remove",
                                "git.fetch",
                                "git.rebase",
                                "git.push",
                                "git_add",
                                "git_commit",
                                "git_commit_signed",
                                "git_reset",
                                "git_checkout",
                                "git_create_branch",
                                "git_branch",
                                "git_fetch",
                                "git_pull",
                                "git_push",
                                "git_merge",
                                "git_rebase",
                                "git_stash",
                                "git_tag",
                                "git_init",
                                "git_clone"};
constexpr Name kCallsHost[] = {"host_call"};
constexpr Name kStores[] = {"store_set", "store_delete", "store_save", "store_clear"};
constexpr Name kChangesMetadata[] = {"metadata_set", "metadata_save", "metadata_refresh_hashes",
                                     "invalidate_facts"};
constexpr Name kCheckpoints[] = {"checkpoint", "checkpoint_delete", "checkpoint_clear"};
constexpr Name kServesEvents[] = {"sse_server_response",     "sse_server_send",
                                  "sse_server_heartbeat",    "sse_server_flush",
                                  "sse_server_close",        "sse_server_cancel",
                                  "sse_server_mock_receive", "sse_server_mock_disconnect"};
constexpr Name kRequests[] = {"fetch",     "http_request", "http_get",
                              "http_post", "WebFetch",     "WebSearch"};
constexpr Name kChangesAgents[] = {"__agent_state_write", "__agent_state_delete",
                                   "__agent_state_handoff"};
constexpr Name kReleases[] = {"mcp_release"};

constexpr EffectRow kRows[] = {
    {{"fs.write", "workspace.write_text"}, kWrites},
    {{"fs.mkdir", "workspace.write_text"}, kMakesFolders},
    {{"fs.copy", "workspace.write_text"}, kCopies},
    {{"fs.move", "workspace.write_text"}, kMoves},
    {{"fs.delete", "workspace.delete"}, kDeletes},
    {{"process.exec", "process.exec"}, kExecutes},
    {{"git.write", "git.write"}, kChangesGit},
    {{"host.call", "host.call"}, kCallsHost},
    {{"store.write", "store.write"}, kStores},
    {{"metadata.write", "metadata.write"}, kChangesMetadata},
    {{"checkpoint.write", "checkpoint.write"}, kCheckpoints},
    {{"network.sse.write", "network.sse"}, kServesEvents},
    {{"network.request", "network.http"}, kRequests},
    {{"agent_state.write", "agent_state.write"}, kChangesAgents},
    {{"mcp.release", "mcp.release"}, kReleases},
};

constexpr Name kFilesystem[] = {"read_file",       "read_text_file",
                                "read_media_file", "read_multiple_files",
                                "list_directory",  "list_directory_with_sizes",
                                "directory_tree",  "search_files",
                                "get_file_info",   "list_allowed_directories"};
constexpr Name kGit[] = {"git_status",      "git_diff", "git_diff_unstaged",
                         "git_diff_staged", "git_log",  "git_show"};
constexpr Name kClaudeCode[] = {"Read", "Glob", "Grep", "LS", "BashOutput"};
constexpr Name kOwnAgent[] = {"read_file", "list_files", "search_files", "background_status",
                              "memory_search"};

constexpr Profile kProfiles[] = {{"mcp-filesystem", kFilesystem},
                                 {"mcp-git", kGit},
                                 {"claude-code", kClaudeCode},
                                 {"sallyport-agent", kOwnAgent}};

bool holds(std::span<const Name> names, Name name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::span<const EffectRow> effect_rows() {
  return kRows;
}

const std::vector<std::string_view>& effect_classes() {
  static const std::vector<std::string_view> kClasses = [] {
    std::vector<std::string_view> classes = {"none",
                                             "fs.read",
                                             "fs.write",
                                             "fs.delete",
                                             "git.write",
                                             "git.discard",
                                             "git.push",
                                             "message.send",
                                             "network.request",
                                             "package.install",
                                             "package.publish",
                                             "process.exec",
                                             "code.remote",
                                             "privilege",
                                             "db.read",
                                             "db.write",
                                             "db.schema",
                                             "unknown"};
    for (const EffectRow& row : kRows) {
      const std::string_view name = row.effect.effect_class;
      const bool split = name == "fs.mkdir" || name == "fs.copy" || name == "fs.move";
      if (!split && std::ranges::find(classes, name) == classes.end()) classes.push_back(name);
    }
    return classes;
  }();
  return kClasses;
}

bool is_effect_class(std::string_view name) {
  return std::ranges::find(effect_classes(), name) != effect_classes().end();
}

std::optional<Effect> effect_of(std::string_view tool) {
  for (const EffectRow& row : kRows) {
    if (holds(row.names, tool)) return row.effect;
  }
  return std::nullopt;
}

std::span<const Profile> profiles() {
  return kProfiles;
}

bool is_profile(std::string_view name) {
  return std::ranges::any_of(kProfiles, [&](const Profile& known) { return known.name == name; });
}

bool observes(std::string_view profile, std::string_view tool) {
  return std::ranges::any_of(kProfiles, [&](const Profile& known) {
    return known.name == profile && holds(known.observing, tool);
  });
}

}  // namespace sallyport::autonomy
