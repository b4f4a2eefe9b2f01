#include "policy/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "autonomy/agent_guard.h"
#include "autonomy/classifier.h"
#include "autonomy/policy_rules.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "external/guards.h"
#include "grants/grant_result_guard.h"
#include "guards/denied_methods.h"
#include "guards/guardrail_guards.h"
#include "guards/guardrail_texts.h"
#include "guards/query_result.h"
#include "guards/redact/output_sanitizer.h"
#include "guards/redact/sanitizer_settings.h"
#include "guards/size_limiter.h"
#include "policy/approval_keys.h"
#include "policy/extended_policy.h"
#include "policy/external_keys.h"
#include "policy/policy_keys.h"
#include "policy/result_rules.h"
#include "policy/rule_checks.h"
#include "policy/rule_keys.h"
#include "policy/shipped.h"
#include "rules/plan_rules.h"

namespace sallyport::policy {

namespace {

constexpr std::size_t kLargestFile = 8u << 20;

Result<std::string> policy_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    const int why = errno;
    return fail(ErrorCode::NotFound,
                why == ENOENT
                    ? fmt::format("there is no file `{}` and no shipped policy of that name; "
                                  "`sallyport policy show` lists the shipped policies",
                                  file.string())
                    : fmt::format("cannot read `{}`: {}", file.string(), std::strerror(why)),
                file.string());
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    return fail(ErrorCode::InvalidInput, "this is a folder; name a file", file.string(), "io");
  }
  // Reads one byte more than expected or allowed, so that a longer file is noticed.
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  std::string text;
  text.resize((unknown ? kLargestFile : std::min<std::uintmax_t>(size, kLargestFile)) + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

// A clock that stands still: compiling needs a clock and searches nothing.
class StillClock final : public Clock {
 public:
  WallTime wall() const override { return {}; }
  SteadyTime steady() const override { return {}; }
};

// Compiles the patterns once, so that a file with a bad pattern is refused with its place.
Result<void> check_patterns(const Policy& policy, const config::YamlNode& root,
                            const std::string& file, const guardrails::PatternStore* patterns) {
  if (!policy.guardrails) return {};
  const auto compiled = guardrails::Guardrails::compile(*policy.guardrails, 1, patterns);
  if (compiled) return {};
  const guardrails::DocumentError& error = compiled.error();
  const config::YamlNode& node = config::node_at(root, "/guardrails" + error.path.value_or(""));
  return fail(ErrorCode::InvalidInput, error.message, config::place_of(node, file), error.code);
}

// The same for the patterns of rules that judge results.
Result<void> check_result_rules(const Policy& policy, const config::YamlNode& root,
                                const std::string& file, const guardrails::PatternStore* patterns) {
  if (!policy.rules) return {};
  const StillClock clock;
  for (std::size_t i = 0; i < policy.rules->rules.size(); ++i) {
    const rules::Rule& rule = policy.rules->rules[i];
    if (!rule.result) continue;
    const auto built = ResultRule::build(rule, clock, patterns);
    if (built) continue;
    const config::YamlNode& node =
        config::node_at(root, fmt::format("/rules/{}/result{}", i, built.error().where));
    return fail(ErrorCode::InvalidInput, built.error().message, config::place_of(node, file));
  }
  return {};
}

Result<std::shared_ptr<const core::ResultGuard>> build(const ResultHook& hook,
                                                       const Surroundings& surroundings) {
  if (hook.hook == "size-limiter") {
    SALLYPORT_TRY(const guards::SizeLimits limits, guards::size_limits_from_json(hook.settings));
    return std::make_shared<const guards::SizeLimiter>(limits);
  }
  if (hook.hook == "query-result") return std::make_shared<const guards::QueryResult>();
  SALLYPORT_TRY(guards::SanitizerSettings settings,
                guards::sanitizer_settings_from_json(hook.settings));
  SALLYPORT_TRY(auto sanitizer,
                guards::OutputSanitizer::build(std::move(settings), surroundings.fingerprint_key,
                                               surroundings.clock, surroundings.patterns));
  return sanitizer;
}

Result<void> add_grants(core::PlanBuilder& plan, const Policy& policy,
                        const Surroundings& surroundings) {
  if (!policy.grants) return {};
  if (surroundings.records == nullptr) {
    return fail(ErrorCode::Internal,
                "the policy asks for grants, and there is no ledger to check "
                "them against");
  }
  grants::GrantGuard::Settings settings = *policy.grants;
  settings.filters_rows =
      std::ranges::find(policy.results, "query-result", &ResultHook::hook) != policy.results.end();
  plan.guard(std::make_shared<const grants::GrantGuard>(std::move(settings), *surroundings.records,
                                                        surroundings.clock));
  return {};
}

// Adds nothing for a stage without checks, so that it costs a call nothing.
void add_guardrails(core::PlanBuilder& plan,
                    const std::shared_ptr<const guardrails::Guardrails>& guardrails,
                    guards::Excerpts excerpts) {
  plan.also("guardrails", guardrails->document().config_hash.c_str());
  if (excerpts == guards::Excerpts::Kept) plan.also("keep_excerpts", true);
  plan.stream_guard(std::make_shared<const guards::GuardrailTexts>(guardrails, excerpts));
  if (guardrails->armed(guardrails::Stage::ToolUse)) {
    plan.guard(std::make_shared<const guards::ToolUseGuardrails>(guardrails, excerpts));
  }
  if (guardrails->armed(guardrails::Stage::ToolOutput)) {
    plan.result_guard(std::make_shared<const guards::ToolOutputGuardrails>(guardrails, excerpts));
  }
}

// Adds the tools of the policy, then known tools that neither the policy nor the front names.
void add_tools(core::PlanBuilder& plan, const Policy& policy) {
  for (const ToolEntry& entry : policy.tools) {
    Classification classification = entry.classification;
    classification.source = "policy";
    plan.tool(entry.server, entry.tool, std::move(classification));
  }
  for (const autonomy::ToolEntry& known : autonomy::known_tools({}, policy.profiles)) {
    if (plan.knows(known.server, known.tool)) continue;
    plan.tool(known.server, known.tool,
              {.tier = known.tier,
               .effect_class = known.effect_class,
               .source = known.server.empty() ? "table" : "profile"});
  }
}

// Reads the policy that `root` extends, and adds to `root` the sections that it lacks.
Result<std::optional<Policy>> extended(config::YamlNode& root, const std::string& file,
                                       const guardrails::PatternStore* patterns,
                                       core::PolicyText& texts) {
  const auto found = std::ranges::find_if(
      root.members, [](const config::YamlMember& member) { return member.key.text == "extends"; });
  if (found == root.members.end()) return std::optional<Policy>();
  const config::Place place{found->value, file};
  std::string name;
  SALLYPORT_CHECK_OK(config::read_text(name, 4'096)(place));
  const bool given = texts.base_name == name && !texts.base_text.empty();
  std::string text;
  texts.base_name = name;
  if (const ShippedPolicy* const shipped = shipped_policy(name)) {
    text = given ? texts.base_text : std::string(shipped->text);
  } else {
    const std::filesystem::path beside = std::filesystem::path(file).parent_path() / name;
    name = beside.string();
    Result<std::string> read = given ? texts.base_text : policy_text(beside);
    if (!read) return place.refuse(read.error().message);
    text = std::move(*read);
  }
  texts.base_text = text;
  SALLYPORT_TRY(const config::YamlNode base_root, config::parse_yaml(text, name));
  SALLYPORT_TRY(root, joined(root, file, base_root));
  SALLYPORT_TRY(Policy base, read_policy(text, name, patterns));
  if (!shipped_policy(name)) base.extended_file = name;
  return std::optional(std::move(base));
}

// Gives an inherited rule its place in the file that it came from.
void keep_places(Policy& policy, const Policy& base) {
  if (!policy.rules || !base.rules) return;
  for (rules::Rule& rule : policy.rules->rules) {
    const rules::Rule* const from = base.rules->find(rule.id);
    if (from && from->source == rule.source) rule.place = from->place;
  }
}

// `${policy}` covers all files of the policy, also the file that it extends.
void cover_extended(Policy& policy) {
  if (!policy.rules || !policy.extended_file) return;
  std::error_code code;
  const auto whole = std::filesystem::absolute(*policy.extended_file, code).lexically_normal();
  const Result<rules::Glob> glob = rules::Glob::parse(whole.string());
  if (code || !glob) return;
  const auto names_policy = [](const rules::Glob& each) {
    return each.root() == rules::Root::Policy;
  };
  for (rules::Rule& rule : policy.rules->rules) {
    for (std::vector<rules::Conditions>* const list : {&rule.when, &rule.unless}) {
      for (rules::Conditions& conditions : *list) {
        if (std::ranges::any_of(conditions.path, names_policy)) conditions.path.push_back(*glob);
      }
    }
  }
}

}  // namespace

std::optional<std::set<std::string>> known_agents(const Policy& policy) {
  if (!policy.autonomy) return std::nullopt;
  std::set<std::string> known;
  const autonomy::AutonomyPolicy& tiers = *policy.autonomy;
  if (tiers.agent_id) known.insert(*tiers.agent_id);
  for (const auto& [agent, tier] : tiers.agent_tiers) known.insert(agent);
  for (const auto& [agent, table] : tiers.agent_action_tiers) known.insert(agent);
  known.insert(tiers.requires_human_agents.begin(), tiers.requires_human_agents.end());
  if (known.empty()) return std::nullopt;
  return known;
}

std::shared_ptr<const external::Scope> scope_of(const Policy& policy,
                                                const effects::Machine& machine,
                                                const effects::FileView* files) {
  rules::RuleSet set{.workspace = policy.workspace, .book = tool_book(policy)};
  return std::make_shared<const external::Scope>(std::move(set), machine, files);
}

// Only effects use them, and without rules only conditions of `external:` look at effects.
std::vector<rules::Warning> warnings_without_rules(const Policy& policy) {
  std::vector<rules::Warning> found;
  if (policy.rules || !policy.external.empty()) return found;
  for (const auto& [server, own] : policy.servers) {
    const std::pair<const char*, bool> keys[] = {{"profile: auto", own.profile == "auto"},
                                                 {"trust_hints: true", own.trust_hints},
                                                 {"paths: remote", own.remote_paths}};
    for (const auto& [key, given] : keys) {
      if (!given) continue;
      found.push_back({.place = own.place,
                       .code = "unreachable",
                       .text = fmt::format("`{}` of the server `{:.80}` has no effect without "
                                           "`rules`; add `rules: []` to use it",
                                           key, server)});
    }
  }
  return found;
}

guards::Excerpts excerpts_of(const Policy& policy) {
  return policy.keeps_excerpts ? guards::Excerpts::Kept : guards::Excerpts::Withheld;
}

Result<Policy> read_policy(const std::string& text, const std::string& file,
                           const guardrails::PatternStore* patterns) {
  return read_policy(core::PolicyText{.text = text}, file, patterns);
}

Result<Policy> read_policy(core::PolicyText texts, const std::string& file,
                           const guardrails::PatternStore* patterns) {
  const std::string& text = texts.text;
  if (text.size() > kLargestFile) {
    return fail(ErrorCode::InvalidInput, "a policy is at most 8 MiB", file);
  }
  SALLYPORT_TRY(config::YamlNode root, config::parse_yaml(text, file));
  if (root.kind != config::YamlNode::Kind::Mapping) {
    return fail(ErrorCode::InvalidInput, "a policy begins with `version: 1`",
                config::place_of(root, file));
  }
  const bool own_servers = std::ranges::any_of(
      root.members, [](const config::YamlMember& member) { return member.key.text == "servers"; });
  SALLYPORT_TRY(const std::optional<Policy> base, extended(root, file, patterns, texts));
  SALLYPORT_TRY(Policy policy, read_policy_tree(root, file, patterns));
  if (base) keep_places(policy, *base);
  if (base && !own_servers) policy.servers = base->servers;  // with the places of that file
  if (base) policy.extended_file = base->extended_file;
  cover_extended(policy);
  policy.text = std::make_shared<const core::PolicyText>(std::move(texts));
  return policy;
}

Result<Policy> read_policy_tree(const config::YamlNode& root, const std::string& file,
                                const guardrails::PatternStore* patterns) {
  Policy policy;
  SALLYPORT_CHECK_OK(policy_keys(policy).read({root, file}));
  SALLYPORT_CHECK_OK(narrow_approvals(policy, root, file));
  SALLYPORT_CHECK_OK(finish_rules(policy, root, file));
  SALLYPORT_CHECK_OK(finish_external(policy, root, file));
  SALLYPORT_CHECK_OK(check_patterns(policy, root, file, patterns));
  SALLYPORT_CHECK_OK(check_result_rules(policy, root, file, patterns));
  return policy;
}

Result<PolicyTree> policy_tree(const std::string& text, const std::string& file) {
  SALLYPORT_TRY(config::YamlNode root, config::parse_yaml(text, file));
  PolicyTree tree{.file = file};
  for (const config::YamlMember& member : root.members) {
    tree.own.insert(member.key.text);
    if (member.key.text == "extends") tree.base = member.value.text;
  }
  core::PolicyText texts{.text = text};
  SALLYPORT_TRY([[maybe_unused]] const std::optional<Policy> base,
                extended(root, file, nullptr, texts));
  std::erase_if(root.members, [](const config::YamlMember& member) {
    return member.key.text == "extends" || member.key.text == "without";
  });
  tree.root = std::move(root);
  return tree;
}

Result<Policy> load_policy(const std::filesystem::path& file,
                           const guardrails::PatternStore* patterns) {
  SALLYPORT_TRY(const std::string text, policy_text(file));
  return read_policy(text, file.string(), patterns);
}

json::value policy_schema() {
  Policy any;
  json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "Sallyport policy"}};
  for (auto& [name, value] : policy_keys(any).schema()) schema[name] = value;
  // The schema of guardrails is now nested, so its definitions must move to the root.
  json::object& guardrails = schema.at("properties").at("guardrails").as_object();
  schema["$defs"] = guardrails.at("$defs");
  for (const char* const name : {"$defs", "$schema", "title"}) guardrails.erase(name);
  return schema;
}

Result<std::shared_ptr<const guardrails::Guardrails>> compile_guardrails(
    const Policy& policy, std::uint64_t generation, const guardrails::PatternStore* patterns) {
  if (!policy.guardrails || policy.guardrails->checks.empty()) return nullptr;
  auto compiled = guardrails::Guardrails::compile(*policy.guardrails, generation, patterns);
  if (compiled) return std::move(*compiled);
  return fail(ErrorCode::InvalidInput, compiled.error().message, compiled.error().path.value_or(""),
              compiled.error().code);
}

namespace {

// Without tiers in the policy, promotions and demotions still apply, and calls still leave a trust
// record (AT-4..AT-6, AT-28).
void add_autonomy(core::PlanBuilder& plan, const Policy& policy, const Surroundings& surroundings) {
  const autonomy::AutonomyPolicy tiers = policy.autonomy.value_or(autonomy::AutonomyPolicy{});
  plan.autonomy_rules(std::make_shared<const autonomy::PolicyRules>(
      tiers, surroundings.clock, surroundings.entropy, policy.enforces_trust, policy.scopes,
      surroundings.standing));
  if (tiers.agent_id) plan.guard(std::make_shared<const autonomy::AgentGuard>(*tiers.agent_id));
}

}  // namespace

Result<void> add_to_plan(core::PlanBuilder& plan, const Policy& policy,
                         std::shared_ptr<const guardrails::Guardrails> guardrails,
                         const Surroundings& surroundings) {
  add_tools(plan, policy);
  if (policy.rules) {
    plan.rules(std::make_shared<const rules::PlanRules>(*policy.rules, surroundings.machine,
                                                        surroundings.files));
  }
  if (policy.durability) plan.durability(*policy.durability);
  if (policy.redaction_notice) plan.redaction_notice(true);
  add_autonomy(plan, policy, surroundings);
  if (policy.approval_time) plan.approval_time(*policy.approval_time);
  if (policy.approvals) plan.approvals(*policy.approvals);
  if (policy.call_time) plan.time_limit(*policy.call_time);
  if (policy.stream_limits) plan.stream_limits(*policy.stream_limits);
  SALLYPORT_CHECK_OK(add_grants(plan, policy, surroundings));
  if (!policy.allowed_methods.empty()) plan.pass_methods(policy.allowed_methods);
  if (!policy.denied_methods.empty()) {
    plan.guard(std::make_shared<const guards::DeniedMethods>(policy.denied_methods));
  }
  if (policy.model) plan.model_rules(*policy.model);
  if (policy.hook_lets_pass) plan.also("hook", json::object{{"on_failure", "allow"}});
  if (guardrails) add_guardrails(plan, guardrails, excerpts_of(policy));
  if (policy.rules) {
    SALLYPORT_TRY(ResultRuleList judging,
                  result_rules(*policy.rules, surroundings.clock, surroundings.patterns));
    for (auto& rule : judging) plan.result_guard(std::move(rule));
  }
  for (const ResultHook& hook : policy.results) {
    SALLYPORT_TRY(std::shared_ptr<const core::ResultGuard> guard, build(hook, surroundings));
    plan.result_guard(std::move(guard));
    if (hook.fails_open) plan.fail_open(hook.hook);
  }
  if (!policy.external.empty()) {
    SALLYPORT_CHECK_OK(external::add_to_plan(
        plan, policy.external, scope_of(policy, surroundings.machine, surroundings.files),
        surroundings.external));
  }
  // Added last, so that the others have checked the result before it is withheld.
  if (policy.grants) plan.result_guard(std::make_shared<const grants::GrantResultGuard>());
  return {};
}

}  // namespace sallyport::policy
