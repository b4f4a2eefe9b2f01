#include "app/hooks/hook_policy.h"

#include "autonomy/classifier.h"
#include "base/json_members.h"
#include "base/on_pool.h"
#include "base/shielded.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/plan/plan_shelf.h"
#include "hook/dialect.h"
#include "machine/environment.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

void extend_hook_plan(core::PlanBuilder& plan, const hook::Origins& origins) {
  for (const std::string& agent : hook::dialect_names()) {
    for (const hook::HostTool& tool : hook::dialect_named(agent)->tools()) {
      plan.extension_tool(agent, std::string(tool.name),
                          {.tier = tool.tier, .effect_class = std::string(tool.effect_class)});
    }
  }
  const std::string claude = "claude-code";
  for (const autonomy::ToolEntry& known : autonomy::known_tools({}, {{claude, claude}})) {
    if (known.server != claude) continue;
    plan.extension_tool(claude, known.tool,
                        {.tier = known.tier, .effect_class = known.effect_class});
  }
  plan.extension_guard(std::make_shared<const hook::OriginGuard>(origins));
}

Result<policy::Policy> read_hook_policy(const policy::PolicyOrigin& origin,
                                        const guardrails::PatternStore* patterns) {
  std::error_code code;
  const auto kind = origin.changes ? std::filesystem::status(*origin.changes, code).type()
                                   : std::filesystem::file_type::not_found;
  const bool readable =
      kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::not_found;
  if (!readable) {
    return fail(ErrorCode::InvalidInput, "the policy of a hook is a file of its own", origin.name);
  }
  return origin.read(patterns);
}

bool HookPolicy::stale() const {
  const auto& extended = policy_.extended_file;
  if (extended && !(extended_ && extended_->still_holds(*extended))) return true;
  return origin_.changes && !(file_ && file_->still_holds(*origin_.changes));
}

HookPolicy::HookPolicy(const Parts& parts, Read read)
    : origin_(std::move(read.origin)),
      file_(read.file),
      extended_(read.extended),
      policy_(std::move(read.policy)),
      guardrails_(std::move(read.guardrails)),
      plan_(read.plan),
      plans_(read.plan),
      governor_({plans_, parts.recorder, parts.workspace.redactor(), parts.workspace.clock(),
                 parts.workspace.entropy(), parts.workspace.ledger().digest()}),
      continuations_(parts.recorder, parts.recorder, parts.workspace.ledger().digest(),
                     parts.workspace.clock(), parts.workspace.entropy()),
      hand_offs_(governor_, continuations_) {}

Result<HookPolicy::Read> HookPolicy::read(const Parts& parts, policy::PolicyOrigin origin) {
  Workspace& workspace = parts.workspace;
  Read read{.origin = std::move(origin)};
  // Read before the text, so that a change in between is noticed the next time.
  if (read.origin.changes) read.file = FileState::of(*read.origin.changes);
  SALLYPORT_TRY(read.policy, read_hook_policy(read.origin, &workspace.patterns()));
  if (read.policy.extended_file) read.extended = FileState::of(*read.policy.extended_file);
  SALLYPORT_TRY(read.guardrails, policy::compile_guardrails(read.policy, 1, &workspace.patterns()));
  core::PlanBuilder builder;
  extend_hook_plan(builder, parts.origins);
  builder.reviewers(
      std::make_shared<const policy::DataFolderReviewers>(workspace.place().reviewers_file()));
  ledger::Ledger& ledger = workspace.ledger();
  const effects::Machine machine =
      machine_of(Environment::of_this_process(), workspace.place().data_dir, read.origin.name);
  auto host = std::make_shared<external::Host>(
      workspace.redactor(),
      external::Host::Settings{.variable = variable_of_this_process, .data_folder = machine.data});
  SALLYPORT_CHECK_OK(
      policy::add_to_plan(builder, read.policy, read.guardrails,
                          {workspace.clock(), workspace.entropy(), ledger.fingerprint_key(),
                           &ledger, &workspace.patterns(), machine, nullptr, std::move(host)}));
  SALLYPORT_TRY(read.plan, builder.build());
  return read;
}

Task<std::shared_ptr<HookPolicy>> HookPolicy::load(Parts parts, std::string name) {
  policy::PolicyOrigin origin = policy::PolicyOrigin::named(name);
  core::PlanShelf::Origin plan_origin{
      .source = origin.name, .who = running_user(), .generation = 1};
  const auto reading = [parts, origin = std::move(origin)]() -> Result<Read> {
    SALLYPORT_TRY(Result<Read> read,
                  shielded("the policy", [&] { return HookPolicy::read(parts, origin); }));
    return read;
  };
  Result<Read> read =
      parts.aside ? co_await on_pool<Result<Read>>(*parts.aside, reading) : reading();
  ledger::Ledger& ledger = parts.workspace.ledger();
  SALLYPORT_CO_TRY(const auto before, ledger.fact("policy", "hash"));
  core::PlanShelf shelf(ledger, before.value_or(""));
  if (!read) {
    SALLYPORT_CO_TRY(const auto refused, ledger.fact("policy", "refused"));
    if (!refused) SALLYPORT_CO_CHECK_OK(co_await shelf.reject(plan_origin, read.error()));
    co_return std::unexpected(read.error());
  }
  SALLYPORT_CO_TRY(const auto kept, ledger.fact(core::kPolicyText, read->plan->hash()));
  if (before != read->plan->hash() || !kept) {
    plan_origin.text = read->policy.text;
    SALLYPORT_CO_CHECK_OK(co_await shelf.load(read->plan, plan_origin));
  }
  co_return std::shared_ptr<HookPolicy>(new HookPolicy(parts, std::move(*read)));
}

bool HookPolicy::local_yes_counts(const json::object& request) const {
  const json::value* const listed = request.if_contains("reviewers");
  const bool anybody = listed == nullptr || !listed->is_array() || listed->get_array().empty();
  const bool named = policy_.approvals && policy_.approvals->people;
  if (!anybody || named || core::kind_of(request) != QuestionKind::Approval) return false;
  if (number_in(request, "approvers_required").value_or(1) > 1) return false;
  if (!policy_.autonomy) return true;
  const auto member = [&](std::string_view name) { return text_or_empty(request, name); };
  return policy_.autonomy->reviewers.empty() &&
         !policy_.autonomy->needs_human_for({.agent = member("agent_id"),
                                             .tool = member("tool_name"),
                                             .effect_class = member("action")});
}

}  // namespace sallyport::app
