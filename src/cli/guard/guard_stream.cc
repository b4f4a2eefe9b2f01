// A dry run over a stream: what would leave at which delta (GR-63..GR-65).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "cli/command.h"
#include "cli/guard/guard_message.h"
#include "cli/guard/number_list.h"
#include "cli/guard/stream_report.h"
#include "guardrails/stream/gate.h"
#include "guardrails/stream/open_gate.h"
#include "terminal/output.h"
#include "workbench/guard_config.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestStream = 1u << 30;

using guardrails::Passed;
using guardrails::Stage;
using guardrails::TextGate;

// Where the text is cut.
class Cuts {
 public:
  static Result<Cuts> read(const GuardStreamOptions& options) {
    if (options.delta.has_value() == options.splits.has_value()) {
      return fail(ErrorCode::InvalidInput, "give either `--delta N` or `--splits N,N,..`");
    }
    Cuts cuts;
    SALLYPORT_TRY(cuts.sizes_, number_list(options.delta ? options.delta : options.splits,
                                           options.delta ? "--delta" : "--splits"));
    cuts.repeats_ = options.delta.has_value();
    if (cuts.repeats_ && (cuts.sizes_.size() != 1 || cuts.sizes_.front() == 0)) {
      return fail(ErrorCode::InvalidInput, "`--delta` is one number from 1 on");
    }
    return cuts;
  }

  Result<std::vector<std::string_view>> of(std::string_view text) const {
    std::vector<std::string_view> deltas;
    for (std::size_t i = 0; repeats_ ? !text.empty() : i < sizes_.size(); ++i) {
      std::size_t size = repeats_ ? std::min(sizes_.front(), text.size()) : sizes_[i];
      if (size > text.size()) {
        return fail(ErrorCode::InvalidInput, "`--splits` is longer than the text");
      }
      deltas.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
    if (!text.empty()) deltas.push_back(text);
    return deltas;
  }

 private:
  std::vector<std::size_t> sizes_;
  bool repeats_ = false;
};

struct End {
  std::string verdict;
  bool armed;
  std::size_t deltas;
  json::object sums;
  std::vector<guardrails::Coverage> coverage;
};

void print_end(const Context& context, const StreamReport& report, const End& end) {
  if (!context.json()) return print_line(fmt::format("verdict: {}", end.verdict));
  json::object summary{
      {"event", "end"}, {"verdict", end.verdict}, {"armed", end.armed}, {"deltas", end.deltas}};
  for (const auto& [name, value] : end.sums) summary[name] = value;
  report.add_document(summary, end.coverage);
  print_line(json::serialize(summary));
}

Result<int> guard_stream(const Context& context, const GuardStreamOptions& options) {
  if (options.channels) return guard_message(context, options);
  const auto stage = guardrails::stage_named(options.stage);
  if (options.tool && stage != Stage::ToolOutput) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("stage `{}` knows no tool; leave `--tool` out", options.stage));
  }
  SALLYPORT_TRY(const Cuts cuts, Cuts::read(options));
  SALLYPORT_TRY(const GuardConfig config, load_guardrails(context, options.config));
  if (!config.guardrails) return config.exit_code;
  SALLYPORT_TRY(const DryRunText given, read_text(context, options.text_file, kLargestStream));
  if (given.exit_code != 0) return given.exit_code;
  SALLYPORT_TRY(const std::vector<std::string_view> deltas, cuts.of(given.text));

  std::optional<std::string_view> tool;
  if (options.tool) tool = *options.tool;
  std::unique_ptr<TextGate> gate = config.guardrails->arm(*stage, tool);
  const bool armed = gate != nullptr;
  if (!armed) gate = guardrails::open_gate();
  StreamReport report(*config.guardrails, context.json());
  std::uint64_t held_max = 0;
  std::size_t pushed = 0;
  while (pushed < deltas.size() && !report.blocked()) {
    SALLYPORT_TRY(const Passed passed, gate->push(deltas[pushed]));
    report.print(passed, pushed++);
    held_max = std::max(held_max, gate->held());
  }
  if (!report.blocked()) {
    SALLYPORT_TRY(const Passed passed, gate->finish());
    report.print(passed, pushed);
  }
  print_end(
      context, report,
      {.verdict = std::string(report.verdict()),
       .armed = armed,
       .deltas = pushed,
       .sums = report.sums(gate->bytes_in(), held_max, gate->invalid_utf8()),
       .coverage = armed ? gate->coverage() : config.guardrails->coverage_of_stream(*stage, tool)});
  return report.blocked() ? 1 : 0;
}

const Command kGuardStream(
    "guard stream", "show what a stream would release, delta by delta", guard_stream,
    [](Syntax& syntax, GuardStreamOptions& options) {
      syntax.text("--config", options.config, "guardrail document, or gallery:NAME", "FILE")
          .required();
      syntax.text("--delta", options.delta, "bytes in each delta", "N");
      syntax.text("--splits", options.splits, "bytes of each delta; the rest is one more delta",
                  "N,N,..");
      syntax.text("--stage", options.stage, "stage whose checks run [output]")
          .choices({"input", "output", "tool_output"});
      syntax.text("--tool", options.tool, "name of the tool, for tool_output", "NAME");
      syntax.text("--text-file", options.text_file, "file with the text [standard input]", "FILE");
      syntax.flag("--channels", options.channels,
                  "the text is a message: one line of JSON for each delta of a channel");
    });

}  // namespace

}  // namespace sallyport::app
