#include "effects/profiles.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sallyport::effects {

namespace {

using enum Does;

constexpr ProfileTool kTools[] = {
    {"claude-code", "Bash", Run, "command"},
    {"claude-code", "Read", Read, "file_path"},
    {"claude-code", "Glob", Search, "path"},
    {"claude-code", "Grep", Search, "path"},
    {"claude-code", "LS", Look, "path"},
    {"claude-code", "NotebookRead", Read, "notebook_path"},
    {"claude-code", "LSP", Look, "filePath file_path"},
    {"claude-code", "Write", Write, "file_path"},
    {"claude-code", "Edit", Write, "file_path"},
    {"claude-code", "MultiEdit", Write, "file_path"},
    {"claude-code", "NotebookEdit", Write, "notebook_path"},
    {"claude-code", "WebFetch", Fetch, "url"},
    {"claude-code", "WebSearch", FindOnWeb},
    {"claude-code", "TodoWrite"},
    {"claude-code", "Task*"},
    {"claude-code", "Agent"},
    {"claude-code", "AskUserQuestion"},
    {"claude-code", "EnterPlanMode"},
    {"claude-code", "ExitPlanMode"},
    {"claude-code", "Skill"},
    {"claude-code", "ToolSearch"},
    {"claude-code", "BashOutput"},
    {"claude-code", "KillShell"},
    {"claude-code", "SendMessage"},
    {"claude-code", "CronList"},

    {"codex", "Bash", Run, "command"},
    {"codex", "view_image", Read, "path"},
    {"codex", "apply_patch", Patch, "input patch command"},
    {"codex", "web_search", FindOnWeb},
    {"codex", "update_plan"},
    {"codex", "request_user_input"},
    {"codex", "spawn_agent"},
    {"codex", "wait_agent"},
    {"codex", "list_agents"},
    {"codex", "tool_search"},
    {"codex", "write_stdin", Type, "chars"},

    {"gemini", "run_shell_command", Run, "command"},
    {"gemini", "read_file", Read, "file_path absolute_path"},
    {"gemini", "read_many_files", Search, "include paths"},
    {"gemini", "list_directory", Look, "dir_path path"},
    {"gemini", "glob", Search, "dir_path path"},
    {"gemini", "grep_search", Search, "dir_path path"},
    {"gemini", "search_file_content", Search, "dir_path path"},
    {"gemini", "write_file", Write, "file_path"},
    {"gemini", "replace", Write, "file_path"},
    {"gemini", "web_fetch", FetchText, "prompt url"},
    {"gemini", "google_web_search", FindOnWeb},
    {"gemini", "write_todos"},
    {"gemini", "ask_user"},
    {"gemini", "enter_plan_mode"},
    {"gemini", "exit_plan_mode"},
    {"gemini", "activate_skill"},
    {"gemini", "invoke_agent"},
    {"gemini", "update_topic"},
    {"gemini", "complete_task"},
    {"gemini", "tracker_*"},
    {"gemini", "save_memory", Store},

    {"copilot", "bash", Run, "command"},
    {"copilot", "view", Look, "path"},
    {"copilot", "grep", Search, "path paths"},
    {"copilot", "glob", Search, "path"},
    {"copilot", "create", Write, "path"},
    {"copilot", "edit", Write, "path"},
    {"copilot", "web_fetch", Fetch, "url"},
    {"copilot", "task"},
    {"copilot", "update_todo"},
    {"copilot", "report_intent"},
    {"copilot", "ask_user"},
    {"copilot", "read_bash"},
    {"copilot", "stop_bash"},
    {"copilot", "list_bash"},
    {"copilot", "write_bash", Type, "input"},

    {"cursor", "Shell", Run, "command"},
    {"cursor", "Read", Read, "path file_path target_file"},
    {"cursor", "Grep", Search, "path"},
    {"cursor", "Glob", Search, "path target_directory"},
    {"cursor", "LS", Look, "path target_directory"},
    {"cursor", "Write", Write, "path file_path target_file"},
    {"cursor", "StrReplace", Write, "path file_path target_file"},
    {"cursor", "Edit", Write, "path file_path target_file"},
    {"cursor", "Delete", Delete, "path file_path target_file"},
    {"cursor", "WebFetch", Fetch, "url"},
    {"cursor", "WebSearch", FindOnWeb},
    {"cursor", "Task"},
    {"cursor", "TodoWrite"},

    {"sallyport-agent", "read_file", Read, "path"},
    {"sallyport-agent", "list_files", Look, "path"},
    {"sallyport-agent", "search_files", Search, "path"},
    {"sallyport-agent", "write_file", Write, "path"},
    {"sallyport-agent", "edit_file", Write, "path"},
    {"sallyport-agent", "shell", Run, "command"},
    {"sallyport-agent", "background_start", Run, "command"},
    {"sallyport-agent", "background_status"},
    {"sallyport-agent", "memory_search"},
    {"sallyport-agent", "memory_pin", Store},
    {"sallyport-agent", "memory_forget", Store},

    {"mcp-filesystem", "read_file", Read, "path"},
    {"mcp-filesystem", "read_text_file", Read, "path"},
    {"mcp-filesystem", "read_media_file", Read, "path"},
    {"mcp-filesystem", "read_multiple_files", Read, "paths"},
    {"mcp-filesystem", "list_directory", Read, "path"},
    {"mcp-filesystem", "list_directory_with_sizes", Read, "path"},
    {"mcp-filesystem", "directory_tree", Search, "path"},
    {"mcp-filesystem", "search_files", Search, "path"},
    {"mcp-filesystem", "get_file_info", Read, "path"},
    {"mcp-filesystem", "list_allowed_directories"},
    {"mcp-filesystem", "write_file", Write, "path"},
    {"mcp-filesystem", "edit_file", Write, "path"},
    {"mcp-filesystem", "create_directory", Write, "path"},
    {"mcp-filesystem", "move_file", Move, "source destination"},

    {"mcp-git", "git_status", GitRead, "repo_path"},
    {"mcp-git", "git_diff", GitRead, "repo_path"},
    {"mcp-git", "git_diff_unstaged", GitRead, "repo_path"},
    {"mcp-git", "git_diff_staged", GitRead, "repo_path"},
    {"mcp-git", "git_log", GitRead, "repo_path"},
    {"mcp-git", "git_show", GitRead, "repo_path"},
    {"mcp-git", "git_add", GitWrite, "repo_path"},
    {"mcp-git", "git_commit", GitWrite, "repo_path"},
    {"mcp-git", "git_reset", GitWrite, "repo_path"},
    {"mcp-git", "git_checkout", GitWrite, "repo_path"},
    {"mcp-git", "git_create_branch", GitWrite, "repo_path"},
    {"mcp-git", "git_branch", GitWrite, "repo_path"},
    {"mcp-git", "git_init", GitWrite, "repo_path"},

    {"mcp-memory", "read_graph"},
    {"mcp-memory", "search_nodes"},
    {"mcp-memory", "open_nodes"},
    {"mcp-memory", "create_*", Store},
    {"mcp-memory", "add_*", Store},
    {"mcp-memory", "delete_*", Store},

    {"mcp-fetch", "fetch", Fetch, "url"},

    {"mcp-time", "get_current_time"},
    {"mcp-time", "convert_time"},

    {"mcp-sequential-thinking", "sequentialthinking"},
};

constexpr std::string_view kAgents[] = {"claude-code", "codex", "gemini", "copilot", "cursor"};

// The exact name of a program, a package or an image, without its version.
struct Publisher {
  std::string_view name;
  std::string_view profile;
};
constexpr Publisher kServerPrograms[] = {
    {"mcp-server-filesystem", "mcp-filesystem"},
    {"mcp-server-git", "mcp-git"},
    {"mcp-server-memory", "mcp-memory"},
    {"mcp-server-fetch", "mcp-fetch"},
    {"mcp-server-time", "mcp-time"},
    {"mcp-server-sequential-thinking", "mcp-sequential-thinking"},
};
constexpr Publisher kNodePackages[] = {
    {"@modelcontextprotocol/server-filesystem", "mcp-filesystem"},
    {"@modelcontextprotocol/server-memory", "mcp-memory"},
    {"@modelcontextprotocol/server-sequential-thinking", "mcp-sequential-thinking"},
};
constexpr Publisher kPythonPackages[] = {
    {"mcp-server-git", "mcp-git"},
    {"mcp-server-fetch", "mcp-fetch"},
    {"mcp-server-time", "mcp-time"},
};
constexpr Publisher kImages[] = {
    {"mcp/filesystem", "mcp-filesystem"},
    {"mcp/git", "mcp-git"},
    {"mcp/memory", "mcp-memory"},
    {"mcp/fetch", "mcp-fetch"},
    {"mcp/time", "mcp-time"},
    {"mcp/sequentialthinking", "mcp-sequential-thinking"},
};

std::string_view profile_in(std::span<const Publisher> list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &Publisher::name);
  return found == list.end() ? std::string_view() : found->profile;
}

bool is_named(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// The name of a program that is given by name or in a system folder. A file of that name elsewhere
// may be anything.
std::string_view server_program(std::string_view word) {
  const std::size_t slash = word.rfind('/');
  if (slash == std::string_view::npos) return word;
  constexpr std::string_view kFolders[] = {"/bin",      "/sbin",          "/usr/bin",
                                           "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"};
  return is_named(kFolders, word.substr(0, slash)) ? word.substr(slash + 1) : std::string_view();
}

using Words = std::span<const std::string>;

// `name@1.2` is the package in that version. `name@npm:other` and `name@file:x` are other packages.
std::string_view node_package(Words words) {
  constexpr std::string_view kHarmless[] = {"-y", "--yes", "-q", "--quiet"};
  std::size_t i = 0;
  while (i < words.size() && is_named(kHarmless, words[i])) ++i;
  if (i == words.size()) return {};
  const std::string_view word = words[i];
  const std::size_t at = word.find('@', 1);
  const std::string_view version = word.substr(std::min(at, word.size()));
  if (version.find_first_of(":/") != std::string_view::npos) return {};
  return profile_in(kNodePackages, word.substr(0, at));
}

std::string_view python_package(Words words) {
  constexpr std::string_view kHarmless[] = {"-q", "--quiet"};
  std::size_t i = 0;
  while (i < words.size() && is_named(kHarmless, words[i])) ++i;
  if (i == words.size()) return {};
  const std::string_view word = words[i];
  const std::size_t end = word.find_first_of("@=");
  const std::string_view version = word.substr(std::min(end, word.size()));
  if (version.find_first_of(":/") != std::string_view::npos) return {};
  return profile_in(kPythonPackages, word.substr(0, end));
}

std::string_view image(Words words) {
  constexpr std::string_view kAlone[] = {"-i",   "-t",     "-it",           "-ti",
                                         "--rm", "--init", "--interactive", "--tty"};
  constexpr std::string_view kWithValue[] = {
      "-v",     "--volume", "--mount",   "-e", "--env",    "--env-file",
      "--name", "-w",       "--workdir", "-u", "--user",   "--network",
      "--net",  "-p",       "--publish", "-m", "--memory", "--cpus"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-')) {
      std::string_view name = word.substr(0, word.find('@'));
      if (const std::size_t tag = name.rfind(':'); tag != std::string_view::npos) {
        name = name.substr(0, tag);
      }
      if (name.starts_with("docker.io/")) name.remove_prefix(10);
      return profile_in(kImages, name);
    }
    if (is_named(kAlone, word)) continue;
    if (is_named(kWithValue, word)) {
      ++i;
      continue;
    }
    if (!is_named(kWithValue, word.substr(0, word.find('=')))) return {};
  }
  return {};
}

}  // namespace

std::string_view to_string(Does does) {
  constexpr std::string_view kNames[] = {
      "none", "command", "stdin",    "read",      "look",  "search",     "write",      "delete",
      "move", "patch",   "git_read", "git_write", "fetch", "fetch_text", "web_search", "store"};
  return kNames[static_cast<std::size_t>(does)];
}

std::span<const ProfileTool> profile_tools() {
  return kTools;
}

const ProfileTool* profile_tool(std::string_view profile, std::string_view tool) {
  for (const ProfileTool& row : kTools) {
    if (row.profile != profile) continue;
    const bool fits = row.tool.ends_with('*')
                          ? tool.starts_with(row.tool.substr(0, row.tool.size() - 1))
                          : tool == row.tool;
    if (fits) return &row;
  }
  return nullptr;
}

bool is_profile(std::string_view name) {
  return std::ranges::find(kTools, name, &ProfileTool::profile) != std::end(kTools);
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const ProfileTool& row : kTools) {
    if (names.empty() || names.back() != row.profile) names.emplace_back(row.profile);
  }
  return names;
}

bool is_agent_profile(std::string_view name) {
  return is_named(kAgents, name);
}

std::string_view profile_of_command(Words command) {
  if (command.empty()) return {};
  const std::string_view program = server_program(command.front());
  const Words rest = command.subspan(1);
  if (program == "npx" || program == "bunx") return node_package(rest);
  if (program == "uvx") return python_package(rest);
  if (program == "docker") {
    return rest.empty() || rest.front() != "run" ? std::string_view() : image(rest.subspan(1));
  }
  return profile_in(kServerPrograms, program);
}

json::array profiles_json(std::string_view profile) {
  json::array rows;
  for (const ProfileTool& row : kTools) {
    if (!profile.empty() && row.profile != profile) continue;
    rows.push_back(json::object{{"profile", row.profile},
                                {"tool", row.tool},
                                {"does", to_string(row.does)},
                                {"members", row.members}});
  }
  return rows;
}

json::array servers_json(std::string_view profile) {
  const std::pair<std::string_view, std::span<const Publisher>> kLists[] = {
      {"program", kServerPrograms},
      {"npm", kNodePackages},
      {"python", kPythonPackages},
      {"image", kImages}};
  json::array rows;
  for (const auto& [by, list] : kLists) {
    for (const Publisher& row : list) {
      if (!profile.empty() && row.profile != profile) continue;
      rows.push_back(json::object{{"profile", row.profile}, {"by", by}, {"name", row.name}});
    }
  }
  return rows;
}

}  // namespace sallyport::effects
