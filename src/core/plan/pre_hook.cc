#include "core/plan/pre_hook.h"

#include <boost/json.hpp>

#include "base/object_reader.h"
#include "base/try.h"
#include "core/record/shape_fields.h"

namespace sallyport {

json::object to_json(const PreHookContext& context) {
  return {{"agent_id", context.agent_id},
          {"tool_name", context.tool_name},
          {"tool_call_id", context.tool_call_id},
          {"input_json", context.input_json},
          {"working_directory", core::or_null(context.working_directory)},
          {"session_id", context.session_id},
          {"call_id", context.call_id},
          {"server", context.server},
          {"tier", to_string(context.tier)},
          {"effect_class", context.effect_class},
          {"pass", context.pass}};
}

Result<PreHookContext> pre_hook_context_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  PreHookContext context{
      .agent_id = in.text("agent_id"),
      .tool_name = in.text("tool_name"),
      .tool_call_id = in.text("tool_call_id"),
      .input_json = in.text("input_json"),
      .working_directory = in.optional_text("working_directory"),
      .session_id = in.text("session_id"),
      .call_id = in.text("call_id"),
      .server = in.text("server"),
      .tier = in.word("tier", {"Observe", "Confirm"}) == "Observe" ? Tier::Observe : Tier::Confirm,
      .effect_class = in.text("effect_class"),
      .pass = in.number("pass")};
  if (!in.ok()) return std::unexpected(in.error());
  return context;
}

json::object to_json(const PreHookDecision& decision) {
  switch (decision.kind) {
    case PreHookDecision::Kind::Allow:
      break;
    case PreHookDecision::Kind::Deny:
      return {{"decision", "deny"}, {"reason", decision.reason.value_or("")}};
    case PreHookDecision::Kind::Modify:
      return {{"decision", "modify"},
              {"input_json", decision.input_json},
              {"reason", core::or_null(decision.reason)}};
  }
  return {{"decision", "allow"}};
}

Result<PreHookDecision> pre_hook_decision_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  const std::string word = in.word("decision", {"allow", "deny", "modify"});
  PreHookDecision decision;
  if (word == "deny") decision = PreHookDecision::deny(in.text("reason"));
  if (word == "modify") {
    std::string input = in.text("input_json");
    decision = PreHookDecision::modify(std::move(input), in.optional_text("reason"));
  }
  if (!in.ok()) return std::unexpected(in.error());
  return decision;
}

}  // namespace sallyport

namespace sallyport::core {

PreHookGuard::PreHookGuard(std::string name, Decide decide, Options options)
    : traits_{.name = std::move(name),
              .stage = Stage::PreHook,
              .rewrites = options.rewrites,
              .waits = options.waits,
              .limit = options.limit,
              .settings = std::move(options.settings)},
      decide_(std::move(decide)) {}

Task<Verdict> PreHookGuard::judge(const Call& call, const GuardContext& context) const {
  const std::string& directory = context.preview.working_directory;
  PreHookContext shown{.agent_id = call.agent_id,
                       .tool_name = call.tool,
                       .tool_call_id = call.tool_call_id,
                       .input_json = call.raw_input.value_or(canonical_json(call.input)),
                       .session_id = call.session_id,
                       .call_id = call.call_id,
                       .server = call.server,
                       .tier = context.classification.tier,
                       .effect_class = context.classification.effect_class,
                       .pass = context.pass};
  if (!directory.empty()) shown.working_directory = directory;
  SALLYPORT_CO_TRY(PreHookDecision decision, co_await decide_(std::move(shown)));
  switch (decision.kind) {
    case PreHookDecision::Kind::Allow:
      co_return Verdict::allow();
    case PreHookDecision::Kind::Deny:
      co_return Verdict::deny(decision.reason.value_or("denied by " + traits_.name));
    case PreHookDecision::Kind::Modify: {
      // If it is not one JSON value, neither it nor the original input may run.
      Result<ParsedJson> input = parse_json(decision.input_json);
      if (!input) {
        co_return Verdict::deny(traits_.name + " gave an invalid input: " + input.error().message);
      }
      Verdict verdict = Verdict::rewrite(std::move(input->value), decision.reason.value_or(""));
      if (!input->exact) verdict.raw = std::move(decision.input_json);
      co_return verdict;
    }
  }
  co_return fail(ErrorCode::InvalidInput, "there is no such decision");
}

}  // namespace sallyport::core
