#include "workbench/case_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "app/gateway_plan.h"
#include "app/hooks/hook_policy.h"
#include "autonomy/auto_use.h"
#include "autonomy/policy_rules.h"
#include "base/json_members.h"
#include "base/run_on.h"
#include "base/try.h"
#include "core/call/governor.h"
#include "core/plan/budgets.h"
#include "core/plan/grant_use.h"
#include "core/plan/pipeline.h"
#include "core/record/reading_recorder.h"
#include "grants/token.h"
#include "grants/token_facts.h"
#include "rules/case_view.h"
#include "workbench/explanation.h"
#include "workbench/tier_source.h"

namespace sallyport::app {

namespace {

// The time of a case that names none. Fixed, so that a case means the same on every day.
constexpr std::string_view kCaseTime = "2026-01-01T00:00:00Z";
constexpr std::string_view kWithheld = "withheld";

class CaseClock final : public Clock {
 public:
  WallTime wall() const override { return now; }
  SteadyTime steady() const override { return SteadyTime{} + now.time_since_epoch(); }
  WallTime now{};
};

// Ids of a decision that is not kept: the same in every run (WB-6).
class CaseEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(next_++);
  }

 private:
  unsigned next_ = 0;
};

class CaseFacts final : public core::RecordReader {
 public:
  void set(std::vector<core::Fact> facts) { facts_ = std::move(facts); }

  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override {
    for (const core::Fact& fact : facts_) {
      if (fact.space == space && fact.key == key) return fact.value;
    }
    return std::nullopt;
  }
  Result<std::vector<core::Fact>> facts(std::string_view space) override {
    std::vector<core::Fact> found;
    for (const core::Fact& fact : facts_) {
      if (fact.space == space) found.push_back(fact);
    }
    return found;
  }
  Result<json::object> entry(std::uint64_t) override {
    return fail(ErrorCode::NotFound, "a case has no entries");
  }

 private:
  std::vector<core::Fact> facts_;
};

// The files of the case that is decided now.
class CaseFiles final : public effects::FileView {
 public:
  const effects::FileView* now = nullptr;

  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t most) const override {
    return now->names(folder, most);
  }
  std::optional<std::string> resolve(const std::string& path) const override {
    return now->resolve(path);
  }
};

class CaseUpstream final : public core::Upstream {
 public:
  explicit CaseUpstream(const CaseGiven& given) : given_(given) {}

  Task<Envelope> invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::Internal, "a case runs no tool");
  }
  bool raises_caution() const override {
    return given_.destructive_hint == true || given_.read_only_hint == false;
  }
  core::UpstreamFacts facts() const override {
    return {.command = given_.command, .read_only_hint = given_.read_only_hint};
  }

 private:
  const CaseGiven& given_;
};

Envelope envelope_of(const json::value& given) {
  const json::object* const object = given.if_object();
  if (object != nullptr && object->contains("kind")) {
    if (Result<Envelope> whole = Envelope::from_json(given)) return std::move(*whole);
  }
  return Envelope::of(given);
}

// Text as it is, anything else as the tool gave it.
json::value shown(const Envelope& envelope) {
  if (envelope.kind == Envelope::Kind::Value) return envelope.value;
  return envelope.to_json();
}

// `agent`: the one who acts, also if the case names none.
std::vector<core::Fact> facts_of(const CallCase& test_case, const std::string& agent,
                                 WallTime now) {
  const CaseGiven& given = test_case.given;
  std::vector<core::Fact> facts;
  if (given.used_in_day > 0) {
    autonomy::AutoUse use;
    for (std::uint64_t i = given.used_in_hour; i < given.used_in_day; ++i) {
      use.add_dispatch(now - std::chrono::hours(2));
    }
    for (std::uint64_t i = 0; i < given.used_in_hour; ++i) {
      use.add_dispatch(now - std::chrono::minutes(1));
    }
    facts.push_back({std::string(autonomy::kUseSpace), agent, use.text()});
  }
  for (const auto& [name, tally] : given.tallies) {
    facts.push_back({std::string(trust::kTallySpace), name.empty() ? agent : name, tally.text()});
  }
  for (const std::string& id : given.revoked) facts.push_back(grants::revoked_fact(id));
  for (const auto& [server, tool] : given.held) {
    for (core::Fact& fact :
         mcp::held_facts(server.empty() ? test_case.call.server : server, tool)) {
      facts.push_back(std::move(fact));
    }
  }
  for (const std::string& text : given.grants) {
    const Result<grants::TokenChain> chain = grants::read_token(text);
    if (!chain || given.grant_used == 0) continue;
    for (std::size_t at = 0; at < chain->leaf().grants.size(); ++at) {
      facts.push_back(core::budgets::used_fact(grants::counter_key(chain->leaf().digest, at),
                                               given.grant_used));
    }
  }
  return facts;
}

// The row of the tier tables that the tier came from, in words.
std::string tier_row(const core::Rehearsal& now, const policy::Policy& policy) {
  const std::optional<TierSource> source = tier_source_from(now.tier_source);
  const Call& call = now.call;
  const autonomy::AutonomyPolicy tiers = policy.autonomy.value_or(autonomy::AutonomyPolicy{});
  const auto action_in = [&](const autonomy::TierTable& table) {
    return table.contains(call.tool) ? call.tool : now.classification.effect_class;
  };
  if (source == TierSource::AgentTiers) return fmt::format("agent_tiers {}", call.agent_id);
  if (source == TierSource::ActionTiers) {
    return fmt::format("action_tiers {}", action_in(tiers.action_tiers));
  }
  if (source == TierSource::AgentActionTiers) {
    const auto table = tiers.agent_action_tiers.find(call.agent_id);
    return fmt::format(
        "agent_action_tiers {} {}", call.agent_id,
        table == tiers.agent_action_tiers.end() ? call.tool : action_in(table->second));
  }
  if (source == TierSource::Observe && now.classification.source == "policy") {
    return fmt::format("tool {}", call.tool);
  }
  return now.tier_source;
}

std::string decider(const core::Rehearsal& now, const CaseAnswer& answer,
                    const policy::Policy& policy) {
  if (answer.rule) return "rule " + *answer.rule;
  for (const GuardRun& run : now.guard_runs) {
    const bool refuses = answer.verdict == CallVerdict::Refused &&
                         (run.verdict == GuardVerdict::Deny ||
                          (run.verdict == GuardVerdict::Error && run.why != "fail_open"));
    const bool asks = now.question && run.verdict == GuardVerdict::Ask;
    if (!refuses && !asks) continue;
    if (run.guard == "guardrails" && run.rule) return "check " + *run.rule;
    if (run.stage == "grant") return run.rule ? "grant " + *run.rule : "grant";
    return "guard " + run.guard;
  }
  using Kind = core::RuleAnswer::Verdict;
  const bool open = now.rules && now.rules->rule.empty();
  if (open && now.rules->verdict == Kind::Refused) return "unlisted";
  if (open && now.rules->verdict == Kind::Asks && answer.verdict == CallVerdict::Asks)
    return "unlisted";
  if (answer.verdict == CallVerdict::Refused) return "call";
  return tier_row(now, policy);
}

// Removes members that identify the policy or the time, and not the decision.
void forget_names(json::value& value) {
  if (json::array* const list = value.if_array()) {
    for (json::value& item : *list) forget_names(item);
  }
  json::object* const object = value.if_object();
  if (object == nullptr) return;
  for (const char* const name : {"config_hash", "policy_hash", "place", "duration_us"}) {
    object->erase(name);
  }
  for (json::key_value_pair& member : *object) forget_names(member.value());
}

json::object trace_of(const core::Rehearsal& now) {
  json::array guards;
  for (const GuardRun& run : now.guard_runs) {
    guards.push_back(sallyport::to_json(run));
  }
  json::array steps;
  for (const core::TierStep& step : now.tier_steps) {
    steps.push_back(json::array{step.source, to_string(step.tier)});
  }
  json::array found;
  for (const json::object& finding : now.findings) {
    found.push_back(json::array{text_or_empty(finding, "check"), text_or_empty(finding, "action"),
                                text_or_empty(finding, "path")});
  }
  json::value trace = json::object{
      {"guards", std::move(guards)},
      {"steps", std::move(steps)},
      {"found", std::move(found)},
      {"class", json::array{to_string(now.classification.tier), now.classification.effect_class,
                            now.classification.source}},
      {"weighed", now.weighed},
      {"rules", now.rules ? json::value(now.rules->record) : json::value()}};
  forget_names(trace);
  return std::move(trace.get_object());
}

json::value asked(const core::Rehearsal& now, WallTime at) {
  if (!now.question) return nullptr;
  const Question& question = *now.question;
  const WallTime until = from_rfc3339(question.expires_at).value_or(at);
  return json::object{
      {"kind", to_string(question.kind)},
      {"quorum", question.approvers_required},
      {"reviewers", json::value_from(question.reviewers)},
      {"deadline_s", std::chrono::floor<std::chrono::seconds>(until - at).count()},
      {"use_within_s", now.use_within.count()},
      {"message", now.rules && !now.rules->text.empty() ? json::value(now.rules->text)
                                                        : json::value(question.description)}};
}

// The rules that log this call. Rules about results log when they find something instead.
std::vector<std::string> logged_rules(const core::Rehearsal& now, const policy::Policy& policy) {
  std::vector<std::string> logged;
  const json::value* const matches = now.rules ? now.rules->record.if_contains("matches") : nullptr;
  if (matches == nullptr || !matches->is_array()) return logged;
  for (const json::value& match : matches->get_array()) {
    const json::object& matched = match.as_object();
    const std::string rule = text_or_empty(matched, "rule");
    const bool fresh = std::ranges::find(logged, rule) == logged.end();
    const rules::Rule* const known = policy.rules ? policy.rules->find(rule) : nullptr;
    const bool of_results = known != nullptr && known->result.has_value();
    if (text_in(matched, "then") == "log" && fresh && !of_results) logged.push_back(rule);
  }
  return logged;
}

std::optional<std::string> deciding_rule(const core::Rehearsal& now, CallVerdict verdict) {
  if (!now.rules || now.rules->rule.empty()) return std::nullopt;
  using Kind = core::RuleAnswer::Verdict;
  const Kind by_rules = now.rules->verdict;
  const bool lets_run = by_rules == Kind::Allowed || by_rules == Kind::Free;
  const bool decided = verdict == CallVerdict::Refused ? by_rules == Kind::Refused
                       : verdict == CallVerdict::Asks  ? by_rules == Kind::Asks
                                                       : verdict == CallVerdict::Runs && lets_run;
  return decided ? std::optional(now.rules->rule) : std::nullopt;
}

// A front adds to the plan, so each kind of front has a plan of its own.
enum class FrontKind { Gateway, Hook, Library };

FrontKind kind_of(std::string_view front) {
  if (front == "hook") return FrontKind::Hook;
  return front == "mcp" || front == "http" ? FrontKind::Gateway : FrontKind::Library;
}

class Trial final : public CaseTrial {
 public:
  Trial(policy::Policy policy, std::shared_ptr<const guardrails::Guardrails> guardrails)
      : policy_(std::move(policy)), guardrails_(std::move(guardrails)) {}

  const policy::Policy& policy() const override { return policy_; }

  Result<CaseAnswer> answer(const CallCase& test_case) override {
    const rules::CaseView files(test_case.given.files, test_case.given.links);
    files_.now = &files;
    clock_.now = test_case.given.time.value_or(*from_rfc3339(kCaseTime));
    standings_ = &test_case;
    // A pin book remembers held tools, so each case gets a new one, at the address that plans know.
    pins_.emplace(recorder_);
    SALLYPORT_TRY(Desk* const desk, desk_for(kind_of(test_case.call.setting.front)));
    Call call = test_case.call;
    if (call.agent_id.empty()) call.agent_id = agent_of_policy(*desk->plan).value_or("agent");
    records_.set(facts_of(test_case, call.agent_id, clock_.now));
    SALLYPORT_CHECK_OK(pins_->recall());
    // The one place that decides: the first door of the Governor (RU-78).
    SALLYPORT_TRY(const core::Rehearsal now,
                  run_alone(desk->governor.rehearse(
                      std::move(call), std::make_shared<CaseUpstream>(test_case.given))));
    CaseAnswer answer{.verdict = verdict_of(now),
                      .reason = now.refusal.value_or(""),
                      .effect_class = now.classification.effect_class,
                      .tier = std::string(to_string(now.tier)),
                      .tier_source = now.tier_source,
                      .input = now.call.input,
                      .asks = asked(now, clock_.now),
                      .logged = logged_rules(now, policy_),
                      .trace = trace_of(now)};
    answer.rule = deciding_rule(now, answer.verdict);
    answer.decided_by = decider(now, answer, policy_);
    for (const json::object& finding : now.findings) add_hit(answer, finding);
    if (test_case.result && answer.verdict == CallVerdict::Runs) {
      SALLYPORT_CHECK_OK(judge_result(*desk, now, *test_case.result, answer));
    }
    return answer;
  }

 private:
  struct Desk {
    explicit Desk(std::shared_ptr<const core::Plan> given, Trial& trial)
        : plan(std::move(given)),
          plans(plan),
          governor({plans, trial.recorder_, trial.redactor_, trial.clock_, trial.entropy_,
                    KeyedDigest("case")}) {}
    std::shared_ptr<const core::Plan> plan;
    core::FixedPlan plans;
    core::Governor governor;
  };

  static void add_hit(CaseAnswer& answer, const json::object& finding) {
    const std::string check = text_or_empty(finding, "check");
    const bool fresh = std::ranges::find(answer.hits, check) == answer.hits.end();
    if (!check.empty() && fresh) answer.hits.push_back(check);
  }

  // Rules that judge results are guards called `rule ID`: the one that withholds, else the first
  // that changes the result or tells a person (RU-63).
  static void take_result_rules(const core::Release& release, CaseAnswer& answer) {
    constexpr std::string_view kRule = "rule ";
    for (const GuardVerdict wanted :
         {GuardVerdict::Deny, GuardVerdict::Rewrite, GuardVerdict::Escalate}) {
      for (const core::Release::GuardState& guard : release.guards) {
        if (answer.result_rule || !guard.guard.starts_with(kRule)) continue;
        if (guard.verdict == wanted) answer.result_rule = guard.guard.substr(kRule.size());
      }
    }
    for (const core::Release::Evidence& seen : release.evidence) {
      if (!seen.guard.starts_with(kRule) || seen.rule.empty()) continue;
      const auto state =
          std::ranges::find(release.guards, seen.guard, &core::Release::GuardState::guard);
      const bool logs = state != release.guards.end() && state->verdict == GuardVerdict::Allow;
      if (logs) answer.logged.push_back(seen.rule);
    }
  }

  Result<Desk*> desk_for(FrontKind kind) {
    std::unique_ptr<Desk>& desk = desks_[static_cast<std::size_t>(kind)];
    if (desk) return desk.get();
    core::PlanBuilder builder;
    if (kind == FrontKind::Gateway) gateway_plan_extension (*pins_)(builder);
    if (kind == FrontKind::Hook) extend_hook_plan(builder, origins_);
    SALLYPORT_CHECK_OK(policy::add_to_plan(
        builder, policy_, guardrails_,
        {.clock = clock_,
         .entropy = entropy_,
         .fingerprint_key = {},
         .records = &records_,
         .machine = {.home = "/home/user",
                     .data = "/home/user/.local/state/sallyport",
                     .policy = "/home/user/policy.yaml"},
         .files = &files_,
         .standing = [this](const std::string& agent) { return standing_of(agent); }}));
    SALLYPORT_TRY(auto plan, builder.build());
    desk = std::make_unique<Desk>(std::move(plan), *this);
    return desk.get();
  }

  trust::Standing standing_of(const std::string& agent) const {
    const auto& all = standings_->given.standings;
    const auto found = all.find(agent);
    if (found != all.end()) return found->second;
    const auto own = all.find("");
    const bool is_caller = standings_->call.agent_id.empty() || standings_->call.agent_id == agent;
    return own != all.end() && is_caller ? own->second : trust::Standing{};
  }

  Result<void> judge_result(Desk& desk, const core::Rehearsal& now, const json::value& given,
                            CaseAnswer& answer) {
    ResultContext context{
        .tool = now.call.tool,
        .call = std::make_shared<const Call>(now.call),
        .scope = now.grant ? now.grant->scope : core::no_grants(),
        .effect_class = now.classification.effect_class,
        .policy_hash = now.policy_hash,
        .matched_grant_index = now.grant ? std::optional(now.grant->index) : std::nullopt};
    if (now.rules) context.rules = std::make_shared<const core::ResultRules>(now.rules->results);
    Envelope envelope = envelope_of(given);
    context.is_error = envelope.kind == Envelope::Kind::Error;
    core::FailOpenLog log("case");
    core::FailOpen fail_open(log);
    SALLYPORT_TRY(const core::Release release,
                  run_alone(as_task(core::run_pipeline(*desk.plan, std::move(envelope),
                                                       std::move(context), clock_, fail_open))));
    const bool withheld = release.verdict == Verdict::Kind::Deny || release.failure;
    answer.result = withheld ? json::value(kWithheld) : shown(release.released);
    for (const Finding& finding : release.findings) add_hit(answer, finding.body);
    take_result_rules(release, answer);
    json::value release_json = release.to_json();
    forget_names(release_json);
    answer.trace["result"] = std::move(release_json);
    return {};
  }

  policy::Policy policy_;
  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  CaseClock clock_;
  CaseEntropy entropy_;
  CaseFacts records_;
  core::ReadingRecorder recorder_{records_};
  const core::NoRedactor redactor_;
  std::optional<mcp::PinBook> pins_{std::in_place, recorder_};  // of the case that is decided now
  hook::Origins origins_;
  CaseFiles files_;
  const CallCase* standings_ = nullptr;
  std::unique_ptr<Desk> desks_[3];
};

}  // namespace

Result<std::unique_ptr<CaseTrial>> CaseTrial::build(policy::Policy policy) {
  SALLYPORT_TRY(auto guardrails, policy::compile_guardrails(policy, 1));
  return std::make_unique<Trial>(std::move(policy), std::move(guardrails));
}

json::object to_json(const CaseAnswer& answer) {
  const auto maybe_text = [](const std::optional<std::string>& text) {
    return text ? json::value(*text) : json::value();
  };
  json::object object{{"verdict", to_string(answer.verdict)},
                      {"rule", maybe_text(answer.rule)},
                      {"decided_by", answer.decided_by},
                      {"class", answer.effect_class},
                      {"tier", answer.tier},
                      {"tier_source", answer.tier_source},
                      {"input", answer.input},
                      {"asks", answer.asks},
                      {"hits", json::value_from(answer.hits)},
                      {"logged", json::value_from(answer.logged)}};
  if (answer.result) {
    object["result"] = *answer.result;
    object["result_rule"] = maybe_text(answer.result_rule);
  }
  return object;
}

}  // namespace sallyport::app
