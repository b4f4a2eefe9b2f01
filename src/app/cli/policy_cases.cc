// `policy test`: does a policy do what its cases say?
#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>
#include <chrono>
#include <map>

#include "app/cli/policy_commands.h"
#include "app/output.h"
#include "app/workbench/case_coverage.h"
#include "app/workbench/case_files.h"
#include "app/workbench/case_report.h"
#include "app/workbench/case_trial.h"
#include "base/try.h"

namespace sallyport::app {

namespace {

// A subject with the trial of its calls, which is made when the first case needs it.
struct Tested {
  CaseSubject subject{};
  std::unique_ptr<CaseTrial> trial{};
  std::vector<std::pair<const AnyCase*, std::size_t>> put{};  // cases, and their outcomes
};

Result<CaseTrial*> trial_of(Tested& tested, const CallCase& one) {
  if (!tested.subject.policy) {
    return fail(ErrorCode::Unavailable,
                fmt::format("`{}` is a guardrail document, which decides no calls; name a policy",
                            tested.subject.name),
                one.place());
  }
  if (!tested.trial) {
    SALLYPORT_TRY(tested.trial, CaseTrial::build(*tested.subject.policy));
  }
  return tested.trial.get();
}

class CaseRun {
 public:
  explicit CaseRun(CaseSuite suite) : suite_(std::move(suite)) {
    for (CaseSubject& subject : suite_.subjects) named_.push_back({std::move(subject)});
  }

  Result<void> run() {
    for (Tested& tested : named_) {
      for (const AnyCase& one : suite_.cases) {
        const bool own = one.call && one.call->policy;
        const bool other = !one.subject.empty() && one.subject != tested.subject.name;
        if (!own && !other) SALLYPORT_CHECK_OK(put(one, tested));
      }
    }
    for (const AnyCase& one : suite_.cases) {
      if (one.call && one.call->policy) {
        SALLYPORT_TRY(Tested* const tested, own_policy(*one.call));
        SALLYPORT_CHECK_OK(put(one, *tested));
      } else if (named_.empty()) {
        return fail(ErrorCode::Unavailable, "the case names no policy, and none was named",
                    fmt::format("{}:{}:{}", one.file, one.line, one.column));
      }
    }
    return {};
  }

  const std::vector<CaseOutcome>& outcomes() const { return outcomes_; }

  // Of each policy that a case was put to, by its name.
  Result<std::vector<std::pair<std::string, std::vector<CoverageUnit>>>> coverage() const {
    std::vector<std::pair<std::string, std::vector<CoverageUnit>>> all;
    const auto add = [&](const Tested& tested) -> Result<void> {
      if (!tested.subject.policy) return {};
      std::vector<CoveredCase> cases;
      for (const auto& [one, at] : tested.put) {
        const std::optional<CaseAnswer>& answer = outcomes_[at].answer;
        cases.push_back({one, answer ? &*answer : nullptr});
      }
      SALLYPORT_TRY(auto units, coverage_of(tested.subject, cases));
      all.emplace_back(tested.subject.name, std::move(units));
      return {};
    };
    for (const Tested& tested : named_) SALLYPORT_CHECK_OK(add(tested));
    for (const auto& [key, tested] : own_) SALLYPORT_CHECK_OK(add(tested));
    return all;
  }

 private:
  Result<Tested*> own_policy(const CallCase& one) {
    // A file name means another file beside other cases.
    const std::string key =
        one.policy->find('\n') == std::string::npos
            ? *one.policy + '\n' + std::filesystem::path(one.file).parent_path().string()
            : *one.policy;
    Tested& tested = own_[key];
    if (!tested.subject.guardrails) {
      SALLYPORT_TRY(tested.subject, subject_of_case(one));
    }
    return &tested;
  }

  Result<void> put(const AnyCase& one, Tested& tested) {
    CaseOutcome outcome{
        .file = one.file, .line = one.line, .column = one.column, .policy = tested.subject.name};
    const auto begin = std::chrono::steady_clock::now();
    if (one.guardrail) {
      const auto results = run_cases(*tested.subject.guardrails, {&*one.guardrail, 1});
      outcome.name = results.front().name;
      outcome.problem = results.front().problem;
    } else {
      SALLYPORT_TRY(CaseTrial* const trial, trial_of(tested, *one.call));
      SALLYPORT_CHECK_OK(check_expected_names(*one.call, trial->policy()));
      SALLYPORT_TRY(CaseAnswer answer, trial->answer(*one.call));
      outcome.name = one.call->name;
      outcome.problem = problem_of(*one.call, answer);
      outcome.answer = std::move(answer);
    }
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    tested.put.emplace_back(&one, outcomes_.size());
    outcomes_.push_back(std::move(outcome));
    return {};
  }

  CaseSuite suite_;
  std::vector<Tested> named_;
  std::map<std::string, Tested> own_;  // of cases that name their policy, by its name or text
  std::vector<CaseOutcome> outcomes_;
};

Result<double> percent_of(const std::string& text) {
  double percent = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool good = code == std::errc() && end == text.data() + text.size();
  if (good && percent >= 0 && percent <= 100) return percent;
  return fail(ErrorCode::InvalidInput,
              fmt::format("`--min-coverage` is a number from 0 to 100, not `{:.40}`", text));
}

using CoverageByPolicy = std::vector<std::pair<std::string, std::vector<CoverageUnit>>>;

void print_coverage(const CoverageByPolicy& coverage, const std::string& format) {
  for (const auto& [policy, units] : coverage) {
    const double percent = covered_percent(units);
    if (format == "json") {
      for (const CoverageUnit& unit : units) {
        json::object row = to_json(unit);
        row["policy"] = policy;
        say(json::serialize(row));
      }
      say(json::serialize(json::object{
          {"policy", policy}, {"units", units.size()}, {"coverage_percent", percent}}));
      continue;
    }
    if (format != "text") continue;
    say(fmt::format("coverage of {}", policy));
    for (const CoverageUnit& unit : units) {
      say(fmt::format("  {:<8} {} {}  {}{}", unit.status, unit.kind, unit.name, unit.place,
                      unit.reason.empty() ? "" : "  " + unit.reason));
    }
    say(fmt::format("  {:.1f} % of {} parts are tested both ways", percent, units.size()));
  }
}

}  // namespace

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

}  // namespace sallyport::app
