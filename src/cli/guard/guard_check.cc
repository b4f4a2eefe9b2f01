// A dry run over a whole text: what the checks would say, and nothing recorded (GR-59..GR-62).
#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "base/try.h"
#include "cli/guard/guard_check_result.h"
#include "cli/guard/number_list.h"
#include "guardrails/check/guardrails.h"
#include "terminal/output.h"
#include "workbench/guard_config.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestText = 16u << 20;

using guardrails::Evaluation;
using guardrails::Guardrails;
using guardrails::Stage;

template <class Value>
json::value or_null(const std::optional<Value>& value) {
  return value ? json::value(*value) : json::value();
}

json::value decision_json(const std::optional<guardrails::Decision>& decision) {
  if (!decision) return nullptr;
  return json::object{{"check_index", decision->check_index},
                      {"check", decision->check},
                      {"reason_code", decision->reason_code},
                      {"replacement", decision->replacement},
                      {"reason", or_null(decision->reason)}};
}

json::object to_json(const Evaluation& seen, const Guardrails& guardrails,
                     const GuardCheckOptions& options) {
  json::array hits;
  for (const guardrails::Hit& hit : seen.hits) hits.push_back(guardrails::to_json(hit));
  json::array coverage;
  for (const guardrails::Coverage& one : seen.coverage) {
    coverage.push_back(guardrails::to_json(one));
  }
  return {{"verdict", to_string(seen.verdict)},
          {"blocked", seen.verdict == guardrails::Verdict::Block},
          {"stage", options.stage},
          {"tool", or_null(options.tool)},
          {"mode", to_string(guardrails.document().mode)},
          {"hits", std::move(hits)},
          {"decision", decision_json(seen.decision)},
          {"text", seen.verdict == guardrails::Verdict::Redact ? or_null(seen.text) : nullptr},
          {"coverage", std::move(coverage)},
          {"report", guardrails::to_json(guardrails.report())},
          {"invalid_utf8", seen.invalid_utf8},
          {"config_hash", guardrails.document().config_hash},
          {"generation", guardrails.generation()}};
}

void print_in_words(const Evaluation& seen) {
  print_line(fmt::format("verdict: {}", to_string(seen.verdict)));
  for (const guardrails::Hit& hit : seen.hits) {
    const std::string where = hit.start
                                  ? fmt::format(" at {}..{}{}", *hit.start, *hit.end,
                                                hit.path ? fmt::format(" of {}", *hit.path) : "")
                                  : "";
    const std::string view = hit.view && *hit.view != "raw" ? fmt::format(" as {}", *hit.view) : "";
    print_line(fmt::format("  {} {} ({}){}{}", to_string(hit.action), hit.check, hit.reason_code,
                           where, view));
  }
  for (const guardrails::Coverage& one : seen.coverage) {
    if (one.skipped && *one.skipped != "stage") {
      print_line(fmt::format("  skipped {}: {}", one.check, *one.skipped));
    }
  }
  if (seen.verdict == guardrails::Verdict::Redact && seen.text) print_line(*seen.text);
}

// The arguments of a call, as a text on the command line gives them (GR-61).
std::expected<ParsedJson, guardrails::DocumentError> arguments_in(const std::string& text) {
  if (text.empty()) return ParsedJson{.value = json::object{}};
  Result<ParsedJson> parsed = parse_json(text, {.bytes = kLargestText});
  if (parsed) return std::move(*parsed);
  return std::unexpected(guardrails::DocumentError{
      .code = "bad_arguments",
      .message = fmt::format("the arguments are not good JSON: {}", parsed.error().message)});
}

Result<int> guard_check(const Context& context, const GuardCheckOptions& options) {
  if (options.policy) return guard_check_result(context, options);
  if (options.config.empty() || options.stage.empty()) {
    return fail(ErrorCode::InvalidInput,
                "name the checks with `--config` and `--stage`, or a policy with `--policy`");
  }
  const auto stage = guardrails::stage_named(options.stage);
  const bool of_tools = stage == Stage::ToolUse || stage == Stage::ToolOutput;
  if (options.tool && !of_tools) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("stage `{}` knows no tool; leave `--tool` out", options.stage));
  }
  if (options.tool && !is_utf8(*options.tool)) {
    return fail(ErrorCode::InvalidInput, "`--tool` is not UTF-8; give the name of a tool");
  }
  SALLYPORT_TRY(const std::vector<std::size_t> numbers, number_list(options.skip, "--skip"));
  const std::set<std::size_t> skip(numbers.begin(), numbers.end());
  SALLYPORT_TRY(const GuardConfig config, load_guardrails(context, options.config));
  if (!config.guardrails) return config.exit_code;
  SALLYPORT_TRY(const DryRunText given, read_text(context, options.text_file, kLargestText));
  if (given.exit_code != 0) return given.exit_code;

  guardrails::Request request{.stage = *stage, .text = given.text};
  std::expected<ParsedJson, guardrails::DocumentError> arguments;
  if (*stage == Stage::ToolUse) {
    arguments = arguments_in(given.text);
    if (!arguments) return report_error(context, arguments.error());
    request.value = &arguments->value;
    if (!arguments->exact) request.received = given.text;
  }
  if (options.tool) request.tool = *options.tool;
  request.skip = [&](std::size_t index) { return skip.contains(index); };
  const Evaluation seen = config.guardrails->evaluate(request);
  if (context.json()) {
    print_line(json::serialize(to_json(seen, *config.guardrails, options)));
  } else {
    print_in_words(seen);
  }
  return seen.verdict == guardrails::Verdict::Block ? 1 : 0;
}

const Command kGuardCheck(
    "guard check", "run the checks on a text", guard_check,
    [](Syntax& syntax, GuardCheckOptions& options) {
      syntax.text("--config", options.config, "guardrail document, or gallery:NAME", "FILE");
      syntax.text("--stage", options.stage, "stage whose checks run")
          .choices({"input", "output", "tool_use", "tool_output"});
      syntax.text("--policy", options.policy,
                  "use all result guards of this policy, instead of --config and --stage", "NAME");
      syntax.text("--tool", options.tool, "name of the tool, for tool_use and tool_output", "NAME");
      syntax.text("--text-file", options.text_file, "file with the text [standard input]", "FILE");
      syntax.text("--skip", options.skip, "checks to leave out, by their position", "N,N,..");
    });

}  // namespace

}  // namespace sallyport::app
