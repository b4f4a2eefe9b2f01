// Reports of a backtest, for people and programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/visible_text.h"
#include "terminal/output.h"
#include "workbench/backtest.h"

namespace sallyport::app {

namespace {

std::size_t count_of(const Backtest& test, CallChange change) {
  const auto found = test.changes.find(change);
  return found == test.changes.end() ? 0 : found->second;
}

json::object codes(const std::map<std::string, std::size_t>& counts) {
  json::object object;
  for (const auto& [code, count] : counts) object[code] = count;
  return object;
}

json::object group_json(const ChangedCalls& group) {
  const std::string_view differs = to_string(group.differs);
  return {{"change", to_string(group.change)},
          {"before", to_string(group.before)},
          {"after", to_string(group.after)},
          {"server", group.server},
          {"tool", group.tool},
          {"class", group.effect_class},
          {"before_by", group.before_by},
          {"after_by", group.after_by},
          {"differs", differs.empty() ? json::value() : json::value(differs)},
          {"calls", group.calls},
          {"sessions", group.sessions.size()},
          {"agents", group.agents.size()},
          {"inputs", group.inputs.size()},
          {"first", group.first},
          {"last", group.last},
          {"examples", json::value_from(group.examples)}};
}

json::object summary_json(const Backtest& test) {
  return {{"summary", json::object{{"calls", test.selected},
                                   {"older_calls", test.older},
                                   {"sessions", test.sessions.size()},
                                   {"agents", test.agents.size()},
                                   {"since", test.since},
                                   {"until", test.until},
                                   {"undecided", test.undecided_calls()},
                                   {"undecided_by", codes(test.undecided)},
                                   {"not_reproduced", test.lost_calls()},
                                   {"not_reproduced_by", codes(test.not_reproduced)},
                                   {"same", count_of(test, CallChange::Same)},
                                   {"loosened", count_of(test, CallChange::Loosened)},
                                   {"tightened", count_of(test, CallChange::Tightened)},
                                   {"other", count_of(test, CallChange::Other)},
                                   {"newly_refused", test.newly_refused},
                                   {"results_compared", test.results},
                                   {"result_not_kept", test.results_not_kept}}}};
}

std::string by_code(const std::map<std::string, std::size_t>& counts) {
  std::string text;
  for (const auto& [code, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", count, code);
  }
  return text;
}

std::string verdicts_of(const ChangedCalls& group) {
  const std::string_view after = to_string(group.after);
  if (group.differs == CallDifference::Released) return fmt::format("{}, other text", after);
  if (group.differs == CallDifference::Input) return fmt::format("{}, other input", after);
  return fmt::format("{} -> {}", to_string(group.before), after);
}

void report_line(std::string_view name, const std::string& text) {
  print_line(fmt::format("{:<11} {}", name, text));
}

}  // namespace

std::vector<json::object> backtest_json(const Backtest& test) {
  std::vector<json::object> all;
  for (const ChangedCalls& group : test.groups) all.push_back(group_json(group));
  all.push_back(summary_json(test));
  return all;
}

void print_backtest(const Backtest& test) {
  report_line(
      "calls",
      fmt::format(
          "{} of {} sessions, {} agents{}", test.selected, test.sessions.size(), test.agents.size(),
          test.since.empty() ? "" : fmt::format("; {:.10} to {:.10}", test.since, test.until)));
  if (test.older > 0)
    report_line("", fmt::format("{} older ones are left out; `--last N` takes more", test.older));
  const std::size_t undecided = test.undecided_calls();
  const double percent = test.selected == 0 ? 0
                                            : 100.0 * static_cast<double>(undecided) /
                                                  static_cast<double>(test.selected);
  report_line("undecided",
              fmt::format("{} ({:.1f} %){}", undecided, percent, by_code(test.undecided)));
  const std::size_t others = test.selected - undecided;
  report_line("reproduced",
              fmt::format("{} of the other {} under the policies of their time; {} differ{}",
                          others - test.lost_calls(), others, test.lost_calls(),
                          by_code(test.not_reproduced)));
  const std::size_t changed = count_of(test, CallChange::Loosened) +
                              count_of(test, CallChange::Tightened) +
                              count_of(test, CallChange::Other);
  report_line("same", fmt::format("{}, changed {}", count_of(test, CallChange::Same), changed));
  for (const ChangedCalls& group : test.groups) {
    report_line(
        to_string(group.change),
        fmt::format("{}  {}{}  by {}, now by {}  {} calls, {} sessions, {} agents, {} inputs",
                    verdicts_of(group), visible(group.tool),
                    group.server.empty() ? "" : " of " + visible(group.server),
                    visible(group.before_by), visible(group.after_by), group.calls,
                    group.sessions.size(), group.agents.size(), group.inputs.size()));
    report_line("", fmt::format("call {}", fmt::join(group.examples, ", ")));
  }
  if (test.results + test.results_not_kept == 0) return;
  report_line("results",
              fmt::format("{} judged again; {} not kept", test.results, test.results_not_kept));
}

}  // namespace sallyport::app
