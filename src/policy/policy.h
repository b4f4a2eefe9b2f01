// A policy document: YAML or JSON, `version: 1`. An unknown key is an error that names its line and
// column.
//
//   version: 1
//   name: docs-team
//   durability: effect
//   tools:
//     - {server: fs, tool: read_file, tier: observe, class: none}
//   guardrails:
//     checks:
//       - type: regex
//         stage: tool_output
//         id: aws
//         on_fail: redact
//         patterns: ["AKIA[A-Z0-9]{16}"]
//   results:
//     - {hook: output-sanitizer, settings: {}}
//     - {hook: size-limiter}
//   servers: [{server: fs, profile: mcp-filesystem}]
//   autonomy: {tier: act_with_approval, agent_tiers: {deploy-bot: act_auto}}
//   grants: {required: [{server: fs, tool: write_file}], trusted_issuers: ["ed25519:..."]}
//   external: [{id: dlp, kind: guard, command: /usr/lib/dlp/check, when: {class: network.request}}]
//   limits: {call_ms: 60000}
//   mcp: {allow_methods: [x/ping], deny_methods: [sampling/createMessage]}
//   model: {allow: ["claude-*"], tool_calls: hand_off}
//   hook: {on_failure: deny}
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autonomy/autonomy_policy.h"
#include "autonomy/policy_rules.h"
#include "autonomy/policy_scope.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "config/yaml.h"
#include "core/plan/plan.h"
#include "core/plan/policy_text.h"
#include "external/entry.h"
#include "external/host.h"
#include "external/scope.h"
#include "grants/grant_guard.h"
#include "guardrails/check/guardrails.h"
#include "guardrails/check/pattern_store.h"
#include "guards/guardrail_records.h"
#include "rules/rule_set.h"
#include "rules/warnings.h"
#include "sallyport/result.h"

namespace sallyport::policy {

struct ToolEntry {
  std::string server{};  // empty: any
  std::string tool{};
  Classification classification{};
  std::vector<effects::RoleOf> roles{};  // the roles of its arguments, for rules
};

// A shipped guard of results, in the order in which they run.
struct ResultHook {
  std::string hook{};
  json::value settings = json::object{};
  bool fails_open = false;
};

struct Policy {
  std::string name{};
  std::string about{};
  std::optional<std::filesystem::path> extended_file{};  // the file that `extends` names, if any
  // A value that the policy does not set keeps the default of the plan.
  std::optional<core::IntentDurability> durability{};
  bool redaction_notice = false;
  std::vector<ToolEntry> tools{};
  std::optional<guardrails::Document> guardrails{};
  bool keeps_excerpts = false;  // keeps excerpts of findings that were not redacted
  std::vector<ResultHook> results{};
  std::map<std::string, std::string> profiles{};                // by server
  std::map<std::string, effects::ServerDescription> servers{};  // the same and more, for rules
  std::optional<rules::RuleSet> rules{};  // no value: calls are decided without rules (RU-1)
  std::optional<rules::Unlisted> unlisted{};
  std::vector<std::string> workspace{};
  std::vector<external::Entry> external{};  // external programs, in the order of the file
  std::optional<autonomy::AutonomyPolicy> autonomy{};
  std::vector<autonomy::PolicyScope> scopes{};  // from the outside in
  bool enforces_trust = false;
  std::optional<grants::GrantGuard::Settings> grants{};
  std::optional<std::chrono::seconds> approval_time{};
  std::optional<std::chrono::seconds> use_within{};
  std::optional<core::ApprovalRules> approvals{};
  std::optional<std::chrono::milliseconds> call_time{};
  std::optional<core::StreamLimits> stream_limits{};
  std::set<std::string, std::less<>> allowed_methods{};  // MCP methods beyond those of the protocol
  std::set<std::string> denied_methods{};                // MCP methods that are calls
  std::shared_ptr<const core::PolicyText> text{};        // as it was read
  std::optional<core::ModelRules> model{};
  bool hook_lets_pass = false;  // a failure of the hook command allows the call; else it denies
};

// `InvalidInput` with `where` = file:line:column; `cause` is the code of GR-6 if the guardrails are
// at fault. `patterns` caches compiled patterns; null: they are compiled each time.
Result<Policy> read_policy(const std::string& text, const std::string& file,
                           const guardrails::PatternStore* patterns = nullptr);
// The same for a stored policy: the policy that it extends is read from `texts`, not from a file.
Result<Policy> read_policy(core::PolicyText texts, const std::string& file,
                           const guardrails::PatternStore* patterns = nullptr);
// At most 8 MiB.
Result<Policy> load_policy(const std::filesystem::path& file,
                           const guardrails::PatternStore* patterns = nullptr);

// A policy as written, merged with the policy that it extends (RU-21).
struct PolicyTree {
  config::YamlNode root{};
  std::string file{};
  std::string base{};         // the policy that it extends; empty: none
  std::set<std::string> own;  // sections that its own file contains

  const std::string& file_of(const std::string& section) const {
    return base.empty() || own.contains(section) ? file : base;
  }
};
Result<PolicyTree> policy_tree(const std::string& text, const std::string& file);
// Reads a tree from `policy_tree`, in which `extends` is already resolved.
Result<Policy> read_policy_tree(const config::YamlNode& root, const std::string& file,
                                const guardrails::PatternStore* patterns = nullptr);

// Agents that the policy names outside of its rules: the agent that it is for, and agents with
// tiers. Coding agents with a profile are always known and not listed. No value: the policy names
// no agents, so any agent may exist.
std::optional<std::set<std::string>> known_agents(const Policy& policy);

// Warnings about keys that have no effect because the policy has no rules (RU-74).
std::vector<rules::Warning> warnings_without_rules(const Policy& policy);

guards::Excerpts excerpts_of(const Policy& policy);

// Makes the scope that evaluates the conditions of `external:`. The policy may have no rules.
std::shared_ptr<const external::Scope> scope_of(const Policy& policy,
                                                const effects::Machine& machine,
                                                const effects::FileView* files = nullptr);

// A JSON Schema (2020-12), generated from the tables that read policies.
json::value policy_schema();

// The objects that guards need and that are not part of the policy's text.
struct Surroundings {
  const Clock& clock;
  Entropy& entropy;
  std::string fingerprint_key;
  // Reads revocations and budgets of grants. Required if the policy asks for grants.
  core::RecordReader* records = nullptr;
  const guardrails::PatternStore* patterns = nullptr;  // null: compiled each time
  effects::Machine machine{};                          // folders that rules name
  // The disk that rules see; null: the disk of this machine. Must outlive the plan.
  const effects::FileView* files = nullptr;
  // Starts the programs of `external:`. Null: none is started, and their answers are unknown.
  std::shared_ptr<external::Host> external{};
  // Gives the promotions and demotions of an agent; empty: the signed ones in `records` count.
  autonomy::PolicyRules::Standings standing{};
};

// Adds the parts of a policy to a plan; the caller may add more. `guardrails` are those compiled
// from `policy`; null: it has none.
Result<void> add_to_plan(core::PlanBuilder& plan, const Policy& policy,
                         std::shared_ptr<const guardrails::Guardrails> guardrails,
                         const Surroundings& surroundings);
Result<std::shared_ptr<const guardrails::Guardrails>> compile_guardrails(
    const Policy& policy, std::uint64_t generation,
    const guardrails::PatternStore* patterns = nullptr);

}  // namespace sallyport::policy
