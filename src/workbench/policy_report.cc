#include "workbench/policy_report.h"

#include <boost/json.hpp>

#include "base/entropy.h"
#include "base/try.h"
#include "core/record/reading_recorder.h"
#include "external/peer.h"

namespace sallyport::app {

namespace {

json::array warning_list(const std::vector<rules::Warning>& warnings) {
  json::array list;
  for (const rules::Warning& warning : warnings) {
    list.push_back(
        json::object{{"where", warning.place}, {"code", warning.code}, {"message", warning.text}});
  }
  return list;
}

}  // namespace

Result<PolicyReport> report_on(Result<policy::Policy> read, const Environment& environment,
                               const Clock& clock) {
  if (!read) return PolicyReport{.refused = read.error()};
  PolicyReport report{.policy = std::move(*read)};
  SystemEntropy entropy;
  SALLYPORT_TRY(report.guardrails, policy::compile_guardrails(report.policy, 1));
  core::PlanBuilder builder;
  core::NoRecords nothing;
  SALLYPORT_CHECK_OK(policy::add_to_plan(builder, report.policy, report.guardrails,
                                         {clock, entropy, {}, &nothing}));
  SALLYPORT_TRY(const auto plan, builder.build());
  report.hash = plan->hash();
  report.durability = core::to_string(plan->durability());
  const std::string home = environment.home.value_or("");
  const auto scope = policy::scope_of(report.policy, {.home = home});
  for (const external::Entry& entry : report.policy.external) {
    const Result<void> good = external::check_peer(entry, scope->workspaces());
    if (!good) return PolicyReport{.refused = good.error()};
  }
  if (report.policy.rules) {
    report.warnings = rules::warnings(
        *report.policy.rules,
        {.now = clock.wall(), .home = home, .agents = policy::known_agents(report.policy)});
  } else {
    report.warnings = policy::warnings_without_rules(report.policy);
  }
  return report;
}

json::object to_json(const PolicyReport& report) {
  if (report.refused) {
    const Error& error = *report.refused;
    return {{"valid", false},
            {"error", json::object{{"message", error.message},
                                   {"where", error.where},
                                   {"code", error.cause.empty() ? json::value()
                                                                : json::value(error.cause)}}}};
  }
  const policy::Policy& policy = report.policy;
  json::object summary{{"valid", true},
                       {"name", policy.name.empty() ? json::value() : json::value(policy.name)},
                       {"hash", report.hash},
                       {"tools", policy.tools.size()},
                       {"checks", report.checks()},
                       {"results", policy.results.size()},
                       {"durability", report.durability},
                       {"guardrails", nullptr}};
  if (report.guardrails) {
    summary["guardrails"] =
        json::object{{"config_hash", report.guardrails->document().config_hash},
                     {"report", guardrails::to_json(report.guardrails->report())}};
  }
  if (policy.rules) summary["rules"] = policy.rules->rules.size();
  if (policy.rules || !report.warnings.empty()) {
    summary["warnings"] = warning_list(report.warnings);
  }
  return summary;
}

}  // namespace sallyport::app
