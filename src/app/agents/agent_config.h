// The configuration of our own agent: YAML or JSON. An unknown key is an error (RT-4).
//
//   agent:
//     id: writer
//     system: You keep the notes in order.
//     model: {provider: anthropic, model: claude-sonnet-5, api_key_env: ANTHROPIC_API_KEY}
//     roots: [{path: notes, write: true, deny: ["*.key"]}]
//     shell: {env: [PATH, HOME], timeout_s: 30, max_timeout_s: 600, sandbox: auto, network: true}
//     background: {max_running: 8, max_runtime_s: 3600}
//     memory: {recall: true, limit: 3, max_chars: 2000, timeout_ms: 250, edit: false}
//     compaction: {at_tokens: 50000, keep_items: 20, keep_snapshots: 10}
//     limits: {deadline_s: 3600, model_requests: 100, tool_calls: 200, tokens: 1000000}
//     retry: {jitter: 0.25}
//     servers:
//       - {name: files, command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/notes]}
//       - {name: wiki, url: "https://wiki.example.com/mcp"}
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent/run/settings.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::app {

// `InvalidInput` names the key, and its `where` is file:line:column (RT-89, RT-90). Relative paths
// are relative to the file's folder. Looks at the roots, and at no other file.
Result<agent::Settings> parse_agent_config(const std::string& text,
                                           const std::filesystem::path& file);

// At most 1 MiB. `NotFound` when there is no such file.
Result<agent::Settings> read_agent_config(const std::filesystem::path& file);

// JSON Schema of such a file.
json::value agent_config_schema();

// The agent without a configuration: it works in `folder` and may start commands there.
agent::Settings default_agent(const std::filesystem::path& folder);

// The model that the command line names: `anthropic/NAME`, `openai/NAME` or `script:FILE`. The key
// is in the variable of the provider's own tools; a server of this machine gets none. An empty
// `base_url`: the provider's. `InvalidInput` explains the syntax.
Result<void> use_model(agent::Settings& settings, std::string_view model,
                       const std::string& base_url);

// Checks that the variable of the key, if one is named, is set (RT-90). Call it before a session is
// made or a lease is taken. The check of a configuration file works without a key.
Result<void> check_key(
    const agent::Settings& settings,
    const std::function<std::optional<std::string>(const std::string& name)>& variable);

}  // namespace sallyport::app
