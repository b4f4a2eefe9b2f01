// A dry run of the second door: what the guards of results of a policy make of a text (PI-20).
#include "cli/guard/guard_check_result.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/run_on.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "core/plan/pipeline.h"
#include "policy/policy_loader.h"
#include "terminal/output.h"
#include "workbench/guard_config.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestResult = 16u << 20;

Result<core::Release> look(const core::Plan& plan, Envelope result, ResultContext context,
                           const Clock& clock) {
  core::FailOpenLog log("dry run");
  core::FailOpen fail_open(log);
  return run_alone(
      as_task(core::run_pipeline(plan, std::move(result), std::move(context), clock, fail_open)));
}

void print_in_words(const json::object& seen, const core::Release& release) {
  print_line(fmt::format("verdict: {}", std::string(seen.at("verdict").as_string())));
  for (const core::Release::GuardState& guard : release.guards) {
    print_line(fmt::format("  {}: {}", visible(guard.guard),
                           guard.verdict ? guard.verdict_word() : guard.state_word()));
  }
  print_line(visible(release.released.to_result().output));
}

}  // namespace

Result<int> guard_check_result(const Context& context, const GuardCheckOptions& options) {
  if (!options.config.empty() || options.skip) {
    return fail(ErrorCode::InvalidInput, "`--policy` takes neither `--config` nor `--skip`");
  }
  if (!options.stage.empty() && options.stage != "tool_output") {
    return fail(ErrorCode::InvalidInput, "a dry run of a policy is about results: `tool_output`");
  }
  const policy::PolicyOrigin origin = policy::PolicyOrigin::named(*options.policy);
  SALLYPORT_TRY(policy::Policy policy, origin.read(nullptr));
  SALLYPORT_TRY(auto guardrails, policy::compile_guardrails(policy, 1));
  policy.grants.reset();  // there is no token and no ledger here
  const SystemClock clock;
  SystemEntropy entropy;
  core::PlanBuilder builder;
  SALLYPORT_CHECK_OK(policy::add_to_plan(
      builder, policy, std::move(guardrails),
      {.clock = clock, .entropy = entropy, .fingerprint_key = "a dry run has no key"}));
  SALLYPORT_TRY(const std::shared_ptr<const core::Plan> plan, builder.build());
  SALLYPORT_TRY(const DryRunText given, read_text(context, options.text_file, kLargestResult));
  if (given.exit_code != 0) return given.exit_code;
  // A result that is JSON is the value, as a server would give it.
  const Result<ParsedJson> parsed = parse_json(given.text, {.bytes = kLargestResult});
  SALLYPORT_TRY(const core::Release release,
                look(*plan, Envelope::of(parsed ? parsed->value : json::value(given.text)),
                     {.tool = options.tool.value_or("")}, clock));
  const json::object seen = release.to_json();
  if (context.json()) {
    print_line(visible_json(canonical_json(seen)));
  } else {
    print_in_words(seen, release);
  }
  return release.verdict == Verdict::Kind::Deny ? 1 : 0;
}

}  // namespace sallyport::app
