// `policy test`: does a policy do what its cases say?
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/try.h"
#include "cli/command.h"
#include "terminal/output.h"
#include "workbench/case_run.h"

namespace sallyport::app {

namespace {

struct PolicyTestOptions {
  // Policies, shipped ones by their name, guardrail documents, `gallery:NAME`, or files of cases
  // that name their policies.
  std::vector<std::string> files;
  std::vector<std::string> cases;  // files, or folders of files
  bool coverage = false;
  std::optional<std::string> min_coverage;  // percent
  std::string format = "text";              // json, junit or github
};

Result<double> percent_of(const std::string& text) {
  double percent = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool good = code == std::errc() && end == text.data() + text.size();
  if (good && percent >= 0 && percent <= 100) return percent;
  return fail(ErrorCode::InvalidInput,
              fmt::format("`--min-coverage` is a number from 0 to 100, not `{:.40}`", text));
}

void print_coverage(const CoverageByPolicy& coverage, const std::string& format) {
  for (const auto& [policy, units] : coverage) {
    const double percent = covered_percent(units);
    if (format == "json") {
      for (const CoverageUnit& unit : units) {
        json::object row = to_json(unit);
        row["policy"] = policy;
        print_line(json::serialize(row));
      }
      print_line(json::serialize(json::object{
          {"policy", policy}, {"units", units.size()}, {"coverage_percent", percent}}));
      continue;
    }
    if (format != "text") continue;
    print_line(fmt::format("coverage of {}", policy));
    for (const CoverageUnit& unit : units) {
      print_line(fmt::format("  {:<8} {} {}  {}{}", to_string(unit.status), to_string(unit.kind),
                             unit.name, unit.place, unit.reason.empty() ? "" : "  " + unit.reason));
    }
    print_line(fmt::format("  {:.1f} % of {} parts are tested both ways", percent, units.size()));
  }
}

Result<int> policy_test(const Context& context, const PolicyTestOptions& options) {
  double least = 0;
  if (options.min_coverage) {
    SALLYPORT_TRY(least, percent_of(*options.min_coverage));
  }
  SALLYPORT_TRY(CaseSuite suite, read_case_suite(context, options.files, options.cases));
  if (suite.exit_code != 0) return suite.exit_code;
  CaseRun run(std::move(suite));
  SALLYPORT_CHECK_OK(run.run());
  const std::string format = context.json() ? "json" : options.format;
  print_report(run.outcomes(), format);
  bool passed = std::ranges::all_of(
      run.outcomes(), [](const CaseOutcome& outcome) { return outcome.problem.empty(); });
  if (options.coverage || options.min_coverage) {
    SALLYPORT_TRY(const CoverageByPolicy coverage, run.coverage());
    if (options.coverage) print_coverage(coverage, format);
    for (const auto& [policy, units] : coverage) {
      const double percent = covered_percent(units);
      if (!options.min_coverage || percent >= least) continue;
      fmt::print(stderr, "{}: {:.1f} % of its parts are tested both ways, fewer than {}\n", policy,
                 percent, *options.min_coverage);
      passed = false;
    }
  }
  return passed ? 0 : 1;
}

const Command kPolicyTest(
    "policy test", "check that a policy does what its cases say", policy_test,
    [](Syntax& syntax, PolicyTestOptions& options) {
      syntax
          .texts("file", options.files,
                 "policies, names of shipped policies, guardrail documents, gallery:NAME or cases",
                 "FILE")
          .required();
      syntax.texts("--cases", options.cases,
                   "files of cases, or folders of them [FILE.cases.yaml beside the policy]",
                   "FILE|FOLDER");
      syntax.flag("--coverage", options.coverage, "list which parts of the policy the cases test");
      syntax.text(
          "--min-coverage", options.min_coverage,
          "exit 1 if fewer parts of the policy are tested with a case that it decides and a "
          "case that it does not match",
          "PERCENT");
      syntax.text("--format", options.format, "output format [text]")
          .choices({"text", "json", "junit", "github"});
    });

}  // namespace

}  // namespace sallyport::app
