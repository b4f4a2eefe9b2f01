// `policy backtest`: decides recorded calls under another policy. Nothing is run or written.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/try.h"
#include "cli/command.h"
#include "records/selection.h"
#include "terminal/output.h"
#include "workbench/backtest.h"
#include "workbench/explain_scene.h"

namespace sallyport::app {

namespace {

struct PolicyBacktestOptions {
  std::string candidate;  // a file, or a shipped one by its name
  std::optional<std::string> against;
  std::optional<std::string> last;  // how many calls
  std::optional<std::string> examples;
  std::optional<std::string> fail_on;
  std::optional<std::string> session;
  std::optional<std::string> agent;
  std::optional<std::string> server;
  std::optional<std::string> tool;
  std::optional<std::string> since;
  std::optional<std::string> until;
};

constexpr std::uint64_t kMostTested = 100'000;
constexpr std::uint64_t kMostExamples = 100;

// The conditions under which the command exits with 1.
struct FailOn {
  bool loosened = false;
  bool refused = false;
  std::optional<double> undecided{};  // percent
};

Result<FailOn> fail_on_from(const std::string& text) {
  FailOn out;
  constexpr std::string_view kUndecided = "undecided:";
  // An empty list would never fail.
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (word == "loosened") {
      out.loosened = true;
    } else if (word == "refused") {
      out.refused = true;
    } else {
      double percent = -1;
      const bool named = word.starts_with(kUndecided);
      const std::string_view number = named ? word.substr(kUndecided.size()) : "";
      const auto [rest, error] =
          std::from_chars(number.data(), number.data() + number.size(), percent);
      const bool whole = error == std::errc() && rest == number.data() + number.size();
      if (!named || !whole || !(percent >= 0 && percent <= 100)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("`{:.80}` is none of `loosened`, `refused` and `undecided:PERCENT`", word),
            "--fail-on");
      }
      out.undecided = percent;
    }
  }
  return out;
}

Result<std::size_t> number_from(const std::string& text, std::uint64_t most,
                                const std::string& option) {
  SALLYPORT_TRY(const std::uint64_t number, count_from(text, option));
  if (number <= most) return number;
  return fail(ErrorCode::InvalidInput, fmt::format("at most {}", most), option);
}

bool fails(const FailOn& on, const Backtest& test) {
  if (on.loosened && test.changes.contains(CallChange::Loosened)) return true;
  if (on.refused && test.newly_refused > 0) return true;
  const double undecided = 100.0 * static_cast<double>(test.undecided_calls());
  return on.undecided && undecided > *on.undecided * static_cast<double>(test.selected);
}

Result<int> policy_backtest(const Context& context, const PolicyBacktestOptions& options) {
  FailOn on;
  if (options.fail_on) {
    SALLYPORT_TRY(on, fail_on_from(*options.fail_on));
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  BacktestTerms terms;
  SALLYPORT_TRY(terms.candidate, policy_named(options.candidate, &workspace->store()));
  if (options.against) {
    SALLYPORT_TRY(terms.against, policy_named(*options.against, &workspace->store()));
  }
  SALLYPORT_TRY(terms.filter, filter_from({.session = options.session,
                                           .agent = options.agent,
                                           .server = options.server,
                                           .tool = options.tool,
                                           .since = options.since,
                                           .until = options.until}));
  if (options.last) {
    SALLYPORT_CHECK_OK(limit_from(*options.last, "--last", kMostTested));
    SALLYPORT_TRY(terms.most, number_from(*options.last, kMostTested, "--last"));
  }
  if (options.examples) {
    SALLYPORT_TRY(terms.examples, number_from(*options.examples, kMostExamples, "--examples"));
  }
  SALLYPORT_TRY(const Backtest test, backtest(scene_of(context, &workspace->store()), terms));
  if (context.json()) {
    for (const json::object& one : backtest_json(test))
      print_line(visible_json(canonical_json(one)));
  } else {
    print_backtest(test);
  }
  return fails(on, test) ? 1 : 0;
}

const Command kPolicyBacktest(
    "policy backtest", "show how a policy would have decided recorded calls; runs nothing",
    policy_backtest, [](Syntax& syntax, PolicyBacktestOptions& options) {
      syntax
          .text("candidate", options.candidate, "policy file, or the name of a shipped policy",
                "POLICY")
          .required();
      syntax.text("--against", options.against,
                  "compare with this policy [the policy of each call]", "POLICY");
      syntax.text("--last", options.last, "how many calls, newest first [10000]", "N");
      syntax.text("--examples", options.examples,
                  "how many example calls are printed for each group [3]", "N");
      syntax.text("--fail-on", options.fail_on, "exit 1 for loosened, refused or undecided:PERCENT",
                  "LIST");
      syntax.text("--session", options.session, "only of this session", "ID");
      syntax.text("--agent", options.agent, "only of this agent", "ID");
      syntax.text("--server", options.server, "only of this tool server", "NAME");
      syntax.text("--tool", options.tool, "only of this tool", "NAME");
      syntax.text("--since", options.since, "from this time on, or from this long ago", "TIME|1h");
      syntax.text("--until", options.until, "before this time", "TIME|1h");
    });

}  // namespace

}  // namespace sallyport::app
