// A policy document: YAML or JSON, `version: 1`. An unknown key is an error with its line and
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
#include "core/plan/plan.h"
#include "core/plan/policy_text.h"
#include "external/entry.h"
#include "external/host.h"
#include "external/scope.h"
#include "grants/grant_guard.h"
#include "guardrails/check/guardrails.h"
#include "guardrails/check/pattern_store.h"
#include "guards/guardrail_records.h"
#include "policy/yaml.h"
#include "rules/rule_set.h"
#include "sallyport/result.h"

namespace sallyport::policy {

struct ToolEntry {
  std::string server{};  // empty: any
  std::string tool{};
  Classification classification{};
  std::vector<effects::RoleOf> roles{};  // of its arguments, for rules
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
  std::optional<std::filesystem::path> extended_file{};  // that `extends` names, where it is a file
  // What is not said stays as the plan has it.
  std::optional<core::IntentDurability> durability{};
  bool redaction_notice = false;
  std::vector<ToolEntry> tools{};
  std::optional<guardrails::Document> guardrails{};
  bool keeps_excerpts = false;  // of what checks found and did not take out
  std::vector<ResultHook> results{};
  std::map<std::string, std::string> profiles{};         // by server
  std::map<std::string, effects::ServerSaid> servers{};  // the same and more, for rules
  std::optional<rules::RuleSet> rules{};  // none: calls are decided without them (RU-1)
  std::optional<rules::Unlisted> unlisted{};
  std::vector<std::string> workspace{};
  std::vector<external::Entry> external{};  // programs that are asked, in order
  std::optional<autonomy::AutonomyPolicy> autonomy{};
  std::vector<autonomy::PolicyScope> scopes{};  // from the outside in
  bool enforces_trust = false;
  std::optional<grants::GrantGuard::Settings> grants{};
  std::optional<std::chrono::seconds> approval_time{};
  std::optional<std::chrono::seconds> use_within{};
  std::optional<core::ApprovalRules> approvals{};
  std::optional<std::chrono::milliseconds> call_time{};
  std::optional<core::StreamLimits> stream_limits{};
  std::set<std::string, std::less<>> allowed_methods{};  // of MCP, beyond those of the protocol
  std::set<std::string> denied_methods{};                // of MCP that are calls
  std::shared_ptr<const core::PolicyText> text{};        // as it was read
  std::optional<core::ModelRules> model{};
  bool hook_lets_pass = false;  // what a failure of the hook command does: else it denies
};

// `InvalidInput` with `where` = file:line:column; `cause` is the code of GR-6 where the guardrails
// are at fault.
// `patterns`: where compiled ones are kept; null: they are compiled anew.
Result<Policy> read_policy(const std::string& text, const std::string& file,
                           const guardrails::PatternStore* patterns = nullptr);
// The same of a text that was kept: what it extends is read from there and not from a file.
Result<Policy> read_policy(core::PolicyText texts, const std::string& file,
                           const guardrails::PatternStore* patterns = nullptr);
// At most 8 MiB.
Result<Policy> load_policy(const std::filesystem::path& file,
                           const guardrails::PatternStore* patterns = nullptr);

// A policy as it is written, with what it extends put in (RU-21).
struct PolicyTree {
  YamlNode root{};
  std::string file{};
  std::string base{};         // that it extends; empty: none
  std::set<std::string> own;  // sections that stand in its own file

  const std::string& file_of(const std::string& section) const {
    return base.empty() || own.contains(section) ? file : base;
  }
};
Result<PolicyTree> policy_tree(const std::string& text, const std::string& file);
// Of a tree that extends nothing any more.
Result<Policy> read_policy_tree(const YamlNode& root, const std::string& file,
                                const guardrails::PatternStore* patterns = nullptr);

// Agents that something of the policy besides its rules knows: that it is for, or has tiers for.
// Coding agents that come with a profile are known anyway. No value: the policy lists no agents, so
// any may be there.
std::optional<std::set<std::string>> known_agents(const Policy& policy);

guards::Excerpts excerpts_of(const Policy& policy);

// Where the conditions of `external:` are looked at, whether or not the policy has rules.
std::shared_ptr<const external::Scope> scope_of(const Policy& policy,
                                                const effects::Machine& machine,
                                                const effects::FileView* files = nullptr);

// A JSON Schema (2020-12), made of the table that reads.
json::value policy_schema();

// What guards need that a text cannot hold.
struct Surroundings {
  const Clock& clock;
  Entropy& entropy;
  std::string fingerprint_key;
  // Where revocations and budgets of grants stand; a policy that asks for grants needs it.
  core::RecordReader* records = nullptr;
  const guardrails::PatternStore* patterns = nullptr;  // null: they are compiled anew
  effects::Machine machine{};                          // folders that rules name
  // The disk that rules look at; null: that of this machine. Must outlive the plan.
  const effects::FileView* files = nullptr;
  // Starts the programs of `external:`. Null: none is started, and what they would say is unknown.
  std::shared_ptr<external::Host> external{};
  // The promotions and demotions of an agent; empty: the signed ones in `records`.
  autonomy::PolicyRules::Standings standing{};
};

// Adds the parts of a policy to a plan; the caller may add more. `guardrails` are compiled from
// `policy`; null: it has none.
Result<void> add_to_plan(core::PlanBuilder& plan, const Policy& policy,
                         std::shared_ptr<const guardrails::Guardrails> guardrails,
                         const Surroundings& surroundings);
Result<std::shared_ptr<const guardrails::Guardrails>> compile_guardrails(
    const Policy& policy, std::uint64_t generation,
    const guardrails::PatternStore* patterns = nullptr);

}  // namespace sallyport::policy
