#include "app/hooks/hook_desk.h"

#include <algorithm>

#include "app/gateway_plan.h"
#include "app/hooks/hook_text.h"
#include "autonomy/dispatch_context.h"
#include "base/on_pool.h"
#include "base/try.h"
#include "base/uuid.h"
#include "hook/front.h"
#include "machine/environment.h"
#include "people/agent_ancestry.h"
#include "terminal/exit_code.h"

namespace sallyport::app {

namespace {

using hook::Decision;
using hook::Event;

constexpr std::size_t kMostPolicies = 16;  // kept between events

bool lets_pass(const std::string& policy) {
  const auto read = read_hook_policy(policy::PolicyOrigin::named(policy), nullptr);
  return read && read->hook_lets_pass;
}

std::string written(const HookQuestion& question, const Decision& decision) {
  return question.dialect->write(question.event, decision, question.setting);
}

// The end of a session cannot be refused. Its open requests stay until they expire.
HookAnswer not_ended(const HookQuestion& question, const Error& error) {
  return {.output = written(question, Decision::allow()),
          .notice = error_line(error) + "; open requests of this session stay open"};
}

}  // namespace

std::string HookQuestion::agent() const {
  std::string name(dialect->name());
  return asker ? name + '@' + asker->user : name;
}

HookAnswer refusal(const HookQuestion& question, const Error& error) {
  const Event::Kind kind = question.event.kind;
  if (kind == Event::Kind::End) return not_ended(question, error);
  const bool has_run = kind == Event::Kind::After || kind == Event::Kind::Batch;
  const std::string reason =
      error_line(error) +
      (has_run ? ". The tool ran, but its result is withheld because Sallyport could not check it."
               : ". Sallyport could not judge this and refuses it.");
  return {.output =
              written(question, has_run ? Decision::withhold(reason) : Decision::deny(reason))};
}

HookAnswer failure(const HookQuestion& question, const Error& error) {
  const bool ends = question.event.kind == Event::Kind::End;
  if (ends || !lets_pass(question.policy)) return refusal(question, error);
  return {
      .output = written(question, Decision::allow()),
      .notice = error_line(error) + "; the call is let pass, as the policy says (hook.on_failure)"};
}

Async<HookAnswer> HookDesk::answer(HookQuestion question) {
  const Result<Decision> decision = co_await judge(question);
  if (decision) co_return HookAnswer{.output = written(question, *decision)};
  // `failure` may read the policy again.
  const auto failing = [question, error = decision.error()] { return failure(question, error); };
  const HookAnswer failed = aside_ ? co_await on_pool<HookAnswer>(*aside_, failing) : failing();
  const bool let_pass = !failed.notice.empty() && question.event.kind != Event::Kind::End;
  if (let_pass) {
    co_await note_passed(question.agent(), decision.error().message);
  }
  co_return failed;
}

// Also records the passed call. The call passes even if that fails.
Async<void> HookDesk::note_passed(std::string agent, std::string reason) {
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Topic,
                    .subject = Subject{.agent_id = std::move(agent)},
                    .topic = "hooks",
                    .body = {{"kind", "let_pass"}, {"reason", std::move(reason)}}});
  (void)co_await recorder_.append(std::move(drafts), core::Urgency::Reports);
}

Task<Decision> HookDesk::judge(HookQuestion question) {
  SALLYPORT_CO_TRY(const std::shared_ptr<HookPolicy> policy, co_await policy_of(question.policy));
  const std::string agent = question.agent();
  // The host of another account is in the hands of the agent: its dialog proves no person (AP-33).
  const bool own_account = !question.asker;
  if (question.host) SALLYPORT_CO_CHECK_OK(co_await mark_host(*question.host, agent));
  const Event& event = question.event;
  // A run without a terminal may be continued later, so its requests stay open.
  if (event.kind == Event::Kind::End && !question.setting.interactive) {
    co_return Decision::allow();
  }
  if (event.kind == Event::Kind::Prompt || event.kind == Event::Kind::Question) {
    TextRules rules{.guardrails = policy->guardrails(),
                    .policy_hash = policy->plan().hash(),
                    .excerpts = policy->excerpts()};
    co_return co_await judge_text(recorder_, std::move(rules), agent, event);
  }
  SALLYPORT_CO_CHECK_OK(co_await policy->governor().tidy());
  hook::Front::Settings settings{
      .agent = own_account ? agent_of_policy(policy->plan()).value_or(agent) : agent,
      .host = std::string(question.dialect->name()),
      .person = own_account ? running_user() : "uid:" + question.asker->user,
      .host_prompts = own_account && question.dialect->asks(question.setting),
      .workspace = question.setting.workspace,
      .origin = origin_of(question),
      .reporter = reporter_of(question),
      .runs = still_runs,
      .local_yes_counts = [policy, own_account](const json::object& request) {
        return own_account && policy->local_yes_counts(request);
      }};
  hook::Front front(
      {policy->governor(), policy->hand_offs(), recorder_, workspace_.ledger().digest(), origins_},
      std::move(settings));
  switch (event.kind) {
    case Event::Kind::Permission:
      co_return co_await front.permission(event);
    case Event::Kind::Batch:
      co_return co_await front.batch(event.calls);
    case Event::Kind::After:
      co_return co_await front.after(event);
    case Event::Kind::End:
      co_return co_await front.end_session(event);
    default:
      co_return co_await front.before(event);
  }
}

std::shared_ptr<HookPolicy> HookDesk::known(const std::string& name) {
  const auto known = std::ranges::find(policies_, name, &HookPolicy::name);
  if (known == policies_.end() || (*known)->stale()) return nullptr;
  std::rotate(policies_.begin(), known, known + 1);
  return policies_.front();
}

Task<std::shared_ptr<HookPolicy>> HookDesk::policy_of(std::string name) {
  constexpr std::chrono::seconds kLook{1};
  while (true) {
    if (std::shared_ptr<HookPolicy> policy = known(name)) co_return policy;
    const auto under_way = loading_.find(name);
    if (under_way == loading_.end()) co_return co_await load(name);
    const std::shared_ptr<Loading> other = under_way->second;
    co_await loaded_.wait(name, kLook, {});
    if (other->failed) co_return std::unexpected(*other->failed);
  }
}

Task<std::shared_ptr<HookPolicy>> HookDesk::load(std::string name) {
  const auto loading = std::make_shared<Loading>();
  loading_[name] = loading;
  Result<std::shared_ptr<HookPolicy>> loaded =
      co_await HookPolicy::load({workspace_, recorder_, origins_, aside_}, name);
  loading_.erase(name);
  if (!loaded) loading->failed = loaded.error();
  loaded_.ring(name);
  if (!loaded) co_return loaded;
  std::erase_if(policies_, [&](const auto& other) { return other->name() == name; });
  policies_.insert(policies_.begin(), *loaded);
  if (policies_.size() > kMostPolicies) policies_.pop_back();
  co_return loaded;
}

// Processes that the agent starts must not answer for people (AP-29).
Task<void> HookDesk::mark_host(int host, std::string agent) {
  const core::Fact governed = governs(host, agent);
  SALLYPORT_CO_TRY(const auto known, recorder_.fact(governed.space, governed.key));
  if (known) co_return Result<void>{};
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Topic,
                    .subject = Subject{.agent_id = agent},
                    .topic = "hooks",
                    .body = {{"kind", "agent_seen"}, {"process", host}},
                    .facts = {governed}});
  SALLYPORT_CO_CHECK_OK(co_await recorder_.append(std::move(drafts), core::Urgency::Announces));
  co_return Result<void>{};
}

// The process that reports the event. If it cannot be seen, only the facts of the hook describe it.
hook::Reporter HookDesk::reporter_of(const HookQuestion& question) const {
  hook::Reporter reporter{.facts = {{"host", question.dialect->name()}}};
  if (question.asker) reporter.facts["uid"] = question.asker->uid;  // as the kernel says
  const std::optional<SeenProcess> seen =
      question.host ? see_process(*question.host) : std::nullopt;
  if (!seen) {
    reporter.facts["pid"] = nullptr;
    return reporter;
  }
  reporter.process = seen->key;
  reporter.parent = seen->parent;
  reporter.program = seen->program;
  reporter.facts["pid"] = seen->pid;
  if (!seen->started.empty()) reporter.facts["started"] = seen->started;
  if (!seen->program.empty()) reporter.facts["program"] = seen->program;
  if (seen->uid) reporter.facts["uid"] = *seen->uid;
  return reporter;
}

// The origin of the call, for its record (AT-12).
json::value HookDesk::origin_of(const HookQuestion& question) {
  const Event& event = question.event;
  autonomy::DispatchContext context{
      .dispatch_id = uuid7_text(workspace_.clock(), workspace_.entropy()),
      .trigger = {.id = event.call_id,
                  .provider = std::string(question.dialect->name()),
                  .kind = event.name},
      .binding_id = "hook",
      .binding_version = 1,
      .agent_id = question.agent(),
      .action = event.tool};
  for (const auto& [name, value] :
       {std::pair("cwd", event.folder), std::pair("permission_mode", event.permission_mode),
        std::pair("sub_agent", event.sub_agent)}) {
    if (!value.empty()) context.trigger.headers[name] = value;
  }
  if (const std::optional<HookAsker>& asker = question.asker) {
    context.trigger.headers["user"] = asker->user;
    context.trigger.headers["uid"] = std::to_string(asker->uid);
    context.trigger.headers["pid"] = std::to_string(asker->pid);
  }
  return autonomy::to_json(context);
}

}  // namespace sallyport::app
