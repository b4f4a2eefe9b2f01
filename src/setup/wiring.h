// Our entries in the settings of other programs: hooks of coding agents, and MCP servers behind the
// gateway. Pure functions from settings to settings.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::app {

// The command line that starts this program: the program, and the options after `hook` or `mcp`.
struct Invoked {
  std::string program;
  std::vector<std::string> options{};  // `--data-dir`, `--policy`
  // The policy of a new hook or server if the options name none. Empty: the program decides.
  std::string default_policy{};

  std::vector<std::string> options_of_new() const;
};

// Below the home folder.
std::filesystem::path agent_settings(std::string_view agent);
std::filesystem::path client_settings(std::string_view client);
std::vector<std::string> client_names();

// An existing hook keeps its options, including its policy; options that are given now replace
// them. `InvalidInput`: the settings have something else in the place of hooks.
Result<json::object> with_hooks(json::object settings, std::string_view agent,
                                const Invoked& invoked);
json::object without_hooks(json::object settings, std::string_view agent);

// The first of our hooks that is installed: the one that decides before a tool runs, if it is there.
struct InstalledHook {
  std::string program;
  std::vector<std::string> options{};  // after the agent's name
  bool blocks_on_failure = false;      // the host stops the call when its hook fails
  std::vector<std::string> missing{};  // events that lack our hook
};
// No value: these settings have no hook of ours.
std::optional<InstalledHook> installed_hook(const json::object& settings, std::string_view agent);

// Codex runs a hook only where its own settings say that the user trusts exactly this one. `file`
// has the hooks, `settings` is its content, and `codex_config` is the text of `config.toml` beside
// it. Returns the events of ours whose hook is not trusted, or switched off.
std::vector<std::string> codex_hooks_not_run(const std::filesystem::path& file,
                                             const json::object& settings,
                                             std::string_view codex_config);

struct Rewired {
  json::object settings;
  std::vector<std::string> wrapped;  // names of servers
  std::vector<std::string> left;     // those that are not started by a command
};
Result<Rewired> with_gateways(json::object settings, std::string_view client,
                              const Invoked& invoked);
Result<Rewired> without_gateways(json::object settings, std::string_view client);

}  // namespace sallyport::app
