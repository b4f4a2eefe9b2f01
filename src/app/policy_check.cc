// Is this a policy, and what does it say?
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "app/output.h"
#include "app/policy_commands.h"
#include "base/try.h"
#include "core/reading_recorder.h"
#include "policy/policy.h"

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
  const std::size_t checks = read->guardrails ? read->guardrails->checks.size() : 0;
  if (!context.json()) {
    say(fmt::format("{} is a good policy{}", options.file.string(),
                    read->name.empty() ? "" : fmt::format(", `{}`", read->name)));
    say(fmt::format("  {} tools classified, {} checks, {} guards of results, durability {}",
                    read->tools.size(), checks, read->results.size(),
                    core::to_string(plan->durability())));
    say(fmt::format("  hash {}", plan->hash()));
    return 0;
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
  say(json::serialize(summary));
  return 0;
}

}  // namespace sallyport::app
