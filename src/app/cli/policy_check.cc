// Is this a policy, and what does it say?
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "app/cli/policy_commands.h"
#include "app/output.h"
#include "base/try.h"
#include "core/record/reading_recorder.h"
#include "external/peer.h"
#include "policy/policy.h"
#include "rules/warnings.h"

namespace sallyport::app {

namespace {

// `<file>:line:column` is what editors jump to, so it comes first.
int tell_refusal(const Context& context, const Error& error) {
  if (context.json()) {
    say(json::serialize(json::object{
        {"valid", false},
        {"error",
         json::object{{"message", error.message},
                      {"where", error.where},
                      {"code", error.cause.empty() ? json::value() : json::value(error.cause)}}}}));
  }
  fmt::print(stderr, "{}: {}\n", error.where, error.message);
  return 1;
}

// Warnings of editors look like this, too.
std::vector<rules::Warning> tell_warnings(const Context& context, const policy::Policy& policy,
                                          const Clock& clock) {
  if (!policy.rules) return {};
  std::vector<rules::Warning> found =
      rules::warnings(*policy.rules, {.now = clock.wall(),
                                      .home = context.environment.home.value_or(""),
                                      .agents = policy::known_agents(policy)});
  for (const rules::Warning& warning : found) {
    fmt::print(stderr, "{}: warning: {}: {}\n", warning.place, warning.code, warning.text);
  }
  return found;
}

json::array to_json(const std::vector<rules::Warning>& warnings) {
  json::array list;
  for (const rules::Warning& warning : warnings) {
    list.push_back(
        json::object{{"where", warning.place}, {"code", warning.code}, {"message", warning.text}});
  }
  return list;
}

}  // namespace

Result<int> policy_check(const Context& context, const PolicyCheckOptions& options) {
  const Result<policy::Policy> read = policy::load_policy(options.file);
  if (!read && read.error().code == ErrorCode::NotFound) return std::unexpected(read.error());
  if (!read) return tell_refusal(context, read.error());
  const SystemClock clock;
  SystemEntropy entropy;
  SALLYPORT_TRY(const auto guardrails, policy::compile_guardrails(*read, 1));
  core::PlanBuilder builder;
  core::NoRecords nothing;
  SALLYPORT_CHECK_OK(
      policy::add_to_plan(builder, *read, guardrails, {clock, entropy, {}, &nothing}));
  SALLYPORT_TRY(const auto plan, builder.build());
  const auto scope = policy::scope_of(*read, {.home = context.environment.home.value_or("")});
  for (const external::Entry& entry : read->external) {
    const Result<void> good = external::check_peer(entry, scope->workspaces());
    if (!good) return tell_refusal(context, good.error());
  }
  const std::vector<rules::Warning> warnings = tell_warnings(context, *read, clock);
  const int code = options.fail_on == "warning" && !warnings.empty() ? 1 : 0;
  const std::size_t checks = read->guardrails ? read->guardrails->checks.size() : 0;
  if (!context.json()) {
    say(fmt::format("{} is a good policy{}", options.file.string(),
                    read->name.empty() ? "" : fmt::format(", `{}`", read->name)));
    say(fmt::format("  {} tools classified, {} checks, {} guards of results, durability {}",
                    read->tools.size(), checks, read->results.size(),
                    core::to_string(plan->durability())));
    if (read->rules) {
      say(fmt::format("  {} rules, {} warnings", read->rules->rules.size(), warnings.size()));
    }
    if (!read->external.empty()) {
      say(fmt::format("  {} external guards", read->external.size()));
    }
    say(fmt::format("  hash {}", plan->hash()));
    return code;
  }
  json::object summary{{"valid", true},
                       {"name", read->name.empty() ? json::value() : json::value(read->name)},
                       {"hash", plan->hash()},
                       {"tools", read->tools.size()},
                       {"checks", checks},
                       {"results", read->results.size()},
                       {"durability", core::to_string(plan->durability())},
                       {"guardrails", nullptr}};
  if (guardrails) {
    summary["guardrails"] = json::object{{"config_hash", guardrails->document().config_hash},
                                         {"report", guardrails::to_json(guardrails->report())}};
  }
  if (read->rules) {
    summary["rules"] = read->rules->rules.size();
    summary["warnings"] = to_json(warnings);
  }
  say(json::serialize(summary));
  return code;
}

}  // namespace sallyport::app
