// `sallyport hook`: one event of a coding agent in, one decision out. The host executes, so
// whatever goes wrong here is answered too, in the host's own words and with exit code 0.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <cstdlib>

#include "app/commands.h"
#include "app/governed_process.h"
#include "app/hook_prompt.h"
#include "app/input.h"
#include "app/output.h"
#include "app/run.h"
#include "app/run_on.h"
#include "app/time_budget.h"
#include "autonomy/classifier.h"
#include "autonomy/dispatch_context.h"
#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/governor.h"
#include "core/hand_offs.h"
#include "core/plan_shelf.h"
#include "core/stored_record.h"
#include "hook/dialect.h"
#include "hook/front.h"
#include "hook/origin_guard.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;
using hook::Decision;
using hook::Event;

constexpr std::size_t kLargestEvent = 16u << 20;
// Hosts are told to wait ten seconds.
constexpr std::chrono::milliseconds kBudget{8000};

Result<Event> read_event(const hook::Dialect& dialect) {
  SALLYPORT_TRY(const std::string text, read_input("-", kLargestEvent + 1));
  const Result<ParsedJson> parsed = parse_json(text, {.bytes = kLargestEvent});
  if (!parsed) {
    return fail(ErrorCode::InvalidInput, parsed.error().message, "stdin:" + parsed.error().where);
  }
  const json::object* const object = parsed->value.if_object();
  if (object == nullptr)
    return fail(ErrorCode::InvalidInput, "the event is no JSON object", "stdin");
  return dialect.read(*object);
}

// What the agent is told of a failure of ours. A result that could not be looked at is not shown.
Decision failure(const Event& event, const Error& error) {
  const std::string reason = error_line(error) + ". Sallyport could not judge this and refuses it.";
  return event.kind == Event::Kind::After ? Decision::withhold(reason) : Decision::deny(reason);
}

Event unreadable() {
  Event event;
  event.kind = Event::Kind::Before;
  return event;
}

// Where the call comes from, for its record (AT-12).
json::value dispatch_of(const Event& event, const std::string& agent, const Workspace& workspace,
                        Entropy& entropy) {
  autonomy::DispatchContext context{
      .dispatch_id = uuid7_text(workspace.clock(), entropy),
      .trigger = {.id = event.call_id, .provider = agent, .kind = event.name},
      .binding_id = "hook",
      .binding_version = 1,
      .agent_id = agent,
      .action = event.tool};
  for (const auto& [name, value] :
       {std::pair("cwd", event.folder), std::pair("permission_mode", event.permission_mode),
        std::pair("sub_agent", event.sub_agent)}) {
    if (!value.empty()) context.trigger.headers[name] = value;
  }
  return autonomy::to_json(context);
}

// The host's own tools (AT-23), and the origin of the call.
policy::PolicyLoader::Extend what_the_host_brings(const hook::Dialect& dialect,
                                                  json::value origin) {
  return [&dialect, origin = std::move(origin)](core::PlanBuilder& plan) {
    const std::string agent(dialect.name());
    for (const hook::HostTool& tool : dialect.tools()) {
      plan.tool(agent, std::string(tool.name),
                {.tier = tool.tier, .effect_class = std::string(tool.effect_class)});
    }
    if (agent == "claude-code") {
      for (const autonomy::ToolEntry& known : autonomy::known_tools({}, {{agent, agent}})) {
        if (known.server != agent) continue;
        plan.tool(agent, known.tool, {.tier = known.tier, .effect_class = known.effect_class});
      }
    }
    plan.guard(std::make_shared<const hook::OriginGuard>(origin));
  };
}

// The origin with a look at what was read: not all of a policy is in its plan.
policy::PolicyOrigin watched(policy::PolicyOrigin origin, policy::Policy& seen) {
  origin.read = [read = std::move(origin.read),
                 &seen](const auto* patterns) -> Result<policy::Policy> {
    SALLYPORT_TRY(policy::Policy policy, read(patterns));
    seen = policy;
    return policy;
  };
  return origin;
}

// The process that runs the agent, seen from its hook: some hosts put a shell in between. Nothing:
// it is gone, and whoever took the hook in is no agent.
std::optional<int> host_process() {
  const int parent = getppid();
  const int host = parent_of_shell(parent).value_or(parent);
  if (adopts_orphans(host)) return std::nullopt;
  return host;
}

// All that one event needs, opened in the order in which it can fail.
class Session {
 public:
  Session(const Context& context, const HookOptions& options, const hook::Dialect& dialect)
      : context_(context), dialect_(dialect), origin_(options.policy.value_or("starter")) {}

  Result<Decision> decide(const Event& event, const hook::Setting& setting);
  // Before anything else is open, too.
  bool lets_pass();
  void note_passed(const Error& error);

 private:
  Result<void> open(const Event& event);
  Result<void> load_plan(const Event& event);
  Result<void> mark_host();
  bool local_yes_counts(const json::object& request) const;

  const Context& context_;
  const hook::Dialect& dialect_;
  std::string origin_;
  policy::Policy policy_;
  bool policy_read_ = false;
  asio::io_context loop_{1};
  std::unique_ptr<Workspace> workspace_;
  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  std::unique_ptr<core::PlanSource> plans_;
};

Result<void> Session::open(const Event& event) {
  SALLYPORT_TRY(Workspace::Place place, context_.place());
  std::error_code code;
  // A passer-by: only a ledger that is not there yet is told of a start.
  const bool first = !std::filesystem::exists(place.ledger_file(), code);
  Workspace::Writing writing{.role = "hook", .announced = first, .passing = true, .in_place = true};
  if (first) writing.close_interrupted = core::close_interrupted;
  SALLYPORT_TRY(workspace_, Workspace::open_writing(std::move(place), std::move(writing)));
  return load_plan(event);
}

Result<void> Session::load_plan(const Event& event) {
  ledger::Ledger& ledger = workspace_->ledger();
  policy::PolicyLoader loader(
      watched(policy::PolicyOrigin::named(origin_), policy_),
      {workspace_->clock(), workspace_->entropy(), ledger.fingerprint_key(), &ledger,
       &workspace_->patterns()},
      what_the_host_brings(dialect_, dispatch_of(event, std::string(dialect_.name()), *workspace_,
                                                 workspace_->entropy())));
  SALLYPORT_TRY(const auto before, ledger.fact("policy", "hash"));
  const core::PlanShelf::Origin origin{
      .source = loader.origin().name, .who = who_runs_this(), .generation = 1};
  auto shelf = std::make_unique<core::PlanShelf>(ledger, before.value_or(""));
  Result<std::optional<policy::PolicyLoader::Loaded>> loaded = loader.refresh();
  if (!loaded) {
    SALLYPORT_TRY(const auto refused, ledger.fact("policy", "refused"));
    if (!refused) SALLYPORT_CHECK_OK(run_on(loop_, shelf->reject(origin, loaded.error())));
    return std::unexpected(loaded.error());
  }
  policy_read_ = true;
  guardrails_ = (*loaded)->guardrails;
  const std::shared_ptr<const core::Plan> plan = (*loaded)->plan;
  if (before == plan->hash()) {
    plans_ = std::make_unique<core::FixedPlan>(plan);
    return {};
  }
  SALLYPORT_CHECK_OK(run_on(loop_, shelf->load(plan, origin)));
  plans_ = std::move(shelf);
  return {};
}

// What the agent starts must not answer for people (AP-29).
Result<void> Session::mark_host() {
  const std::optional<int> host = host_process();
  if (!host) return {};
  const core::Fact governed = governs(*host, std::string(dialect_.name()));
  SALLYPORT_TRY(const auto known, workspace_->ledger().fact(governed.space, governed.key));
  if (known) return {};
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Topic,
                    .subject = {.agent_id = std::string(dialect_.name())},
                    .topic = "hooks",
                    .body = {{"kind", "agent_seen"}, {"process", *host}},
                    .facts = {governed}});
  SALLYPORT_CHECK_OK(
      workspace_->ledger().append_blocking(std::move(drafts), core::Urgency::Announces));
  return {};
}

// AP-33: neither where a human or two are asked for, nor where the policy says who they are.
bool Session::local_yes_counts(const json::object& request) const {
  const core::ApprovalRules& rules = plans_->current()->approvals();
  const json::value* const listed = request.if_contains("reviewers");
  const bool anybody = listed == nullptr || !listed->is_array() || listed->get_array().empty();
  if (!anybody || rules.people || text_in(request, "kind") != "approval") return false;
  if (number_in(request, "approvers_required").value_or(1) > 1) return false;
  if (!policy_.autonomy) return true;
  const auto member = [&](std::string_view name) {
    return std::string(text_in(request, name).value_or(""));
  };
  return policy_.autonomy->reviewers.empty() &&
         !policy_.autonomy->needs_human_for({.agent = member("agent_id"),
                                             .tool = member("tool_name"),
                                             .effect_class = member("action")});
}

Result<Decision> Session::decide(const Event& event, const hook::Setting& setting) {
  SALLYPORT_CHECK_OK(open(event));
  SALLYPORT_CHECK_OK(mark_host());
  ledger::Ledger& ledger = workspace_->ledger();
  const std::string agent(dialect_.name());
  if (event.kind == Event::Kind::Prompt) {
    const auto excerpts = policy::excerpts_of(policy_);
    return judge_prompt(ledger, guardrails_, event, {agent, plans_->current(), excerpts});
  }
  core::Governor governor({*plans_, ledger, workspace_->redactor(), workspace_->clock(),
                           workspace_->entropy(), ledger.digest()});
  core::Continuations continuations(ledger, ledger.digest(), workspace_->clock(),
                                    workspace_->entropy());
  core::HandOffs hand_offs(governor, continuations);
  SALLYPORT_CHECK_OK(run_on(loop_, governor.tidy()));
  hook::Front front({governor, hand_offs, ledger, ledger.digest()},
                    {.agent = agent,
                     .person = who_runs_this(),
                     .host_asks = dialect_.asks(setting),
                     .local_yes_counts = [this](const json::object& request) {
                       return local_yes_counts(request);
                     }});
  return run_on(loop_,
                event.kind == Event::Kind::Before ? front.before(event) : front.after(event));
}

bool Session::lets_pass() {
  if (policy_read_) return policy_.hook_lets_pass;
  const Result<policy::Policy> policy = policy::PolicyOrigin::named(origin_).read(nullptr);
  return policy && policy->hook_lets_pass;
}

// Loud: on standard error, and on record where there is one.
void Session::note_passed(const Error& error) {
  const std::string line =
      error_line(error) + "; the call is let pass, as the policy says (hook.on_failure)\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
  if (!workspace_) return;
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Topic,
                    .subject = {.agent_id = std::string(dialect_.name())},
                    .topic = "hooks",
                    .body = {{"kind", "let_pass"}, {"reason", error.message}}});
  (void)workspace_->ledger().append_blocking(std::move(drafts), core::Urgency::Reports);
}

// A run without a terminal names another entry point than `cli`.
hook::Setting setting_of(const Context& context, const HookOptions& options) {
  if (options.interactive != "auto") return {.interactive = options.interactive == "yes"};
  const std::optional<std::string>& entry = context.environment.claude_entrypoint;
  return {.interactive = !entry || !entry->starts_with("sdk")};
}

}  // namespace

Result<int> answer_hook(const Context& context, const HookOptions& options) {
  const hook::Dialect& dialect = *hook::dialect_named(options.agent);
  const hook::Setting setting = setting_of(context, options);
  TimeBudget budget(kBudget);
  const Error late{ErrorCode::Deadline, "no decision within 8 s"};
  budget.answer_with(dialect.write(unreadable(), failure(unreadable(), late), setting));
  const Result<Event> event = read_event(dialect);
  if (event && event->kind == Event::Kind::Other) return 0;
  const Event& known = event ? *event : unreadable();
  budget.answer_with(dialect.write(known, failure(known, late), setting));
  Session session(context, options, dialect);
  Result<Decision> decision =
      event ? session.decide(*event, setting) : Result<Decision>(std::unexpected(event.error()));
  if (!decision && session.lets_pass()) {
    session.note_passed(decision.error());
    decision = Decision::allow();
  }
  budget.disarm();
  const std::string answer =
      dialect.write(known, decision ? *decision : failure(known, decision.error()), setting);
  if (!answer.empty()) say(answer);
  return 0;
}

}  // namespace sallyport::app
