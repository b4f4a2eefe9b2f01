// `policy check`: checks and summarises a policy.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/try.h"
#include "cli/command.h"
#include "policy/policy_loader.h"
#include "terminal/exit_code.h"
#include "terminal/output.h"
#include "workbench/policy_report.h"

namespace sallyport::app {

namespace {

struct PolicyCheckOptions {
  std::string file;               // or a shipped policy by its name
  std::string fail_on = "error";  // or `warning`: then a warning is a "no" too
};

std::string counted(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

Result<int> policy_check(const Context& context, const PolicyCheckOptions& options) {
  Result<policy::Policy> read = policy::PolicyOrigin::named(options.file).read(nullptr);
  const bool no_file =
      !read && (read.error().code == ErrorCode::NotFound || read.error().cause == "io");
  if (no_file) return std::unexpected(read.error());
  SALLYPORT_TRY(const PolicyReport report,
                report_on(std::move(read), context.environment, SystemClock()));
  if (context.json()) print_line(json::serialize(to_json(report)));
  // `<file>:line:column` is what editors jump to, so it comes first.
  if (report.refused) {
    fmt::print(stderr, "{}\n", with_place(*report.refused));
    return 1;
  }
  for (const rules::Warning& warning : report.warnings) {
    fmt::print(stderr, "{}: warning: {}: {}\n", warning.place, warning.code, warning.text);
  }
  const int code = options.fail_on == "warning" && !report.warnings.empty() ? 1 : 0;
  if (context.json()) return code;
  const policy::Policy& policy = report.policy;
  print_line(fmt::format("{} is valid{}", options.file,
                         policy.name.empty() ? "" : fmt::format(", `{}`", policy.name)));
  print_line(fmt::format("  {} classified, {}, {} of results, durability {}",
                         counted(policy.tools.size(), "tool"), counted(report.checks(), "check"),
                         counted(policy.results.size(), "guard"), report.durability));
  if (policy.rules) {
    print_line(fmt::format("  {}, {}", counted(policy.rules->rules.size(), "rule"),
                           counted(report.warnings.size(), "warning")));
  } else if (!report.warnings.empty()) {
    print_line(fmt::format("  {}", counted(report.warnings.size(), "warning")));
  }
  if (!policy.external.empty()) {
    print_line(fmt::format("  {}", counted(policy.external.size(), "external guard")));
  }
  print_line(fmt::format("  hash {}", report.hash));
  return code;
}

const Command kPolicyCheck(
    "policy check", "check a policy and summarise it", policy_check,
    [](Syntax& syntax, PolicyCheckOptions& options) {
      syntax.text("file", options.file, "policy file, or the name of a shipped policy", "FILE")
          .required();
      syntax.text("--fail-on", options.fail_on, "lowest severity that makes it exit with 1 [error]")
          .choices({"error", "warning"});
    });

}  // namespace

}  // namespace sallyport::app
