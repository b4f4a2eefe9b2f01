// Is this a policy, and what does it say?
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "app/terminal/output.h"
#include "app/workbench/policy_report.h"
#include "base/try.h"
#include "cli/command.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

namespace {

struct PolicyCheckOptions {
  std::string file;               // or a shipped policy by its name
  std::string fail_on = "error";  // or `warning`: then a warning is a "no" too
};

Result<int> policy_check(const Context& context, const PolicyCheckOptions& options) {
  Result<policy::Policy> read = policy::PolicyOrigin::named(options.file).read(nullptr);
  if (!read && read.error().code == ErrorCode::NotFound) return std::unexpected(read.error());
  SALLYPORT_TRY(const PolicyReport report,
                report_on(std::move(read), context.environment, SystemClock()));
  if (context.json()) say(json::serialize(to_json(report)));
  // `<file>:line:column` is what editors jump to, so it comes first.
  if (report.refused) {
    fmt::print(stderr, "{}: {}\n", report.refused->where, report.refused->message);
    return 1;
  }
  for (const rules::Warning& warning : report.warnings) {
    fmt::print(stderr, "{}: warning: {}: {}\n", warning.place, warning.code, warning.text);
  }
  const int code = options.fail_on == "warning" && !report.warnings.empty() ? 1 : 0;
  if (context.json()) return code;
  const policy::Policy& policy = report.policy;
  say(fmt::format("{} is a good policy{}", options.file,
                  policy.name.empty() ? "" : fmt::format(", `{}`", policy.name)));
  say(fmt::format("  {} tools classified, {} checks, {} guards of results, durability {}",
                  policy.tools.size(), report.checks(), policy.results.size(), report.durability));
  if (policy.rules) {
    say(fmt::format("  {} rules, {} warnings", policy.rules->rules.size(), report.warnings.size()));
  }
  if (!policy.external.empty()) {
    say(fmt::format("  {} external guards", policy.external.size()));
  }
  say(fmt::format("  hash {}", report.hash));
  return code;
}

const Command kPolicyCheck(
    "policy check", "check a policy and summarise it", policy_check,
    [](Syntax& syntax, PolicyCheckOptions& options) {
      syntax.text("file", options.file, "the policy, or a shipped one by its name", "FILE")
          .required();
      syntax.text("--fail-on", options.fail_on, "what makes it exit with 1 [error]")
          .choices({"error", "warning"});
    });

}  // namespace

}  // namespace sallyport::app
