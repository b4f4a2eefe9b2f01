#include "autonomy/policy_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "autonomy/tier_resolution.h"
#include "autonomy/trust_memory.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/event/topic_event.h"
#include "trust/tally.h"

namespace sallyport::autonomy {

namespace {

bool is_outage(const Error& error) {
  return error.code == ErrorCode::Unavailable;
}

core::AutonomyAnswer tier_unknown(const Error& error) {
  return {.tier = Autonomy::Shadow,
          .source = "trust",
          .refusal = "the ledger cannot be read, so the tier is not known: " + error.message};
}

std::unexpected<Error> used_up(const std::string& agent) {
  return fail(ErrorCode::Exhausted,
              fmt::format("the autonomy budget of `{:.60}` is used up, ask again", agent), {},
              std::string(core::kBudgetUsedUp));
}

// Counts one dispatch inside the transaction of its intent.
class CountDispatch final : public core::FactChange {
 public:
  CountDispatch(std::string agent, Budget budget, WallTime now)
      : agent_(std::move(agent)), budget_(budget), now_(now) {}

  Result<std::vector<core::Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const std::optional<std::string> before, stored(kUseSpace, agent_));
    Result<AutoUse> use = AutoUse::parse(before.value_or(""));
    if (!use || use->weigh(budget_, now_).exhausted) return used_up(agent_);
    use->add_dispatch(now_);
    return std::vector{core::Fact{std::string(kUseSpace), agent_, use->text()}};
  }

 private:
  std::string agent_;
  Budget budget_;
  WallTime now_;
};

// Remembers that a window was announced. Refuses if another process has just done so.
class MarkAnnounced final : public core::FactChange {
 public:
  MarkAnnounced(std::string agent, Budget budget, std::vector<Window> windows, WallTime now)
      : agent_(std::move(agent)), budget_(budget), windows_(std::move(windows)), now_(now) {}

  Result<std::vector<core::Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const std::optional<std::string> before, stored(kUseSpace, agent_));
    Result<AutoUse> use = AutoUse::parse(before.value_or(""));
    if (!use) return std::vector<core::Fact>{};
    if (use->weigh(budget_, now_).to_announce != windows_) {
      return fail(ErrorCode::Exhausted, "the use of the whole budget was announced before", {},
                  std::string(core::kAnnouncedBefore));
    }
    for (const Window window : windows_) use->set_announced(window, now_);
    return std::vector{core::Fact{std::string(kUseSpace), agent_, use->text()}};
  }

 private:
  std::string agent_;
  Budget budget_;
  std::vector<Window> windows_;
  WallTime now_;
};

core::Draft exceeded_event(const Call& call, const Budget& budget, std::vector<Window> windows,
                           WallTime now) {
  json::array names;
  for (const Window window : windows) names.emplace_back(to_string(window));
  json::object limits;
  if (budget.max_per_hour) limits["max_per_hour"] = *budget.max_per_hour;
  if (budget.max_per_day) limits["max_per_day"] = *budget.max_per_day;
  Result<core::Draft> draft =
      core::topic_draft({.topic = std::string(core::kAutonomyTopic),
                         .kind = "autonomy.budget_exceeded",
                         .payload = json::object{{"agent", call.agent_id},
                                                 {"call_id", call.call_id},
                                                 {"windows", std::move(names)},
                                                 {"budget", std::move(limits)}}},
                        core::Governed{call.agent_id, call.trace_id, Autonomy::ActWithApproval});
  // Ids are bounded, and so are texts made from them.
  SALLYPORT_INVARIANT(draft.has_value());
  draft->subject.set(&Subject::call_id, call.call_id);
  draft->changes.push_back(
      std::make_shared<MarkAnnounced>(call.agent_id, budget, std::move(windows), now));
  return std::move(*draft);
}

std::string about_use(const AutoUse& use, const Budget& budget, WallTime now) {
  std::string about;
  const auto add = [&](std::optional<std::uint64_t> limit, Window window) {
    if (!limit) return;
    if (!about.empty()) about += ", ";
    about +=
        fmt::format("{} of {} in the last {}", use.count(window, now), *limit, to_string(window));
  };
  add(budget.max_per_hour, Window::Hour);
  add(budget.max_per_day, Window::Day);
  return about;
}

core::ApprovalBounds bounds_of(const Bounds& bounds) {
  const auto time = [](std::optional<std::uint64_t> seconds) {
    return seconds ? std::optional(std::chrono::seconds(*seconds)) : std::nullopt;
  };
  return {.reviewers = bounds.reviewers,
          .quorum = bounds.quorum,
          .deadline = time(bounds.deadline_s),
          .use_within = time(bounds.use_within_s)};
}

json::object to_json(const TierTable& table) {
  json::object object;
  for (const auto& [name, tier] : table) object[name] = to_string(tier);
  return object;
}

json::array to_json(const std::vector<std::string>& names) {
  json::array array;
  for (const std::string& name : names) array.emplace_back(name);
  return array;
}

// Checks the agent's budget of unattended calls. Unless it is used up, `answer.spending` charges
// this call to it, with the intent. Fails if the ledger cannot be read.
Result<void> weigh_budget(const core::AutonomyQuestion& question, const Budget& budget,
                          core::RecordReader& records, WallTime now, TierInputs& inputs,
                          core::AutonomyAnswer& answer) {
  const Call& call = question.call;
  const auto stored = records.fact(kUseSpace, call.agent_id);
  if (!stored && is_outage(stored.error())) return std::unexpected(stored.error());
  const Result<AutoUse> use = stored ? AutoUse::parse(stored->value_or(""))
                                     : Result<AutoUse>(std::unexpected(stored.error()));
  const AutoUse::Excess verdict =
      use ? use->weigh(budget, now) : AutoUse::Excess{.exhausted = true};
  inputs.budget_exhausted = verdict.exhausted;
  if (question.steps && use) inputs.budget_about = about_use(*use, budget, now);
  if (!verdict.exhausted) {
    answer.spending = std::make_shared<CountDispatch>(call.agent_id, budget, now);
  }
  if (!verdict.to_announce.empty()) {
    answer.events.push_back(exceeded_event(call, budget, verdict.to_announce, now));
  }
  return {};
}

}  // namespace

core::AutonomyAnswer PolicyRules::weigh(const core::AutonomyQuestion& question,
                                        core::RecordReader& records, WallTime now) const {
  const Call& call = question.call;
  const Result<trust::Standing> standing =
      standings_ ? standings_(call.agent_id)
                 : trust::standing_of(records, call.agent_id, question.people);
  // If the ledger cannot be read, the tier is unknown (SC-42).
  if (!standing && is_outage(standing.error())) return tier_unknown(standing.error());
  // An unreadable chain promotes no agent, and it is unknown which agents it demoted (TR-18).
  if (!standing) {
    if (question.steps) {
      question.steps->push_back({"trust", Autonomy::Shadow, standing.error().message});
    }
    return {.tier = Autonomy::Shadow, .source = "trust"};
  }
  const Result<ScopeStack> around = scopes_around(call);
  if (!around) {
    return {.tier = Autonomy::Shadow,
            .source = std::string(to_string(Source::Scope)),
            .refusal = "scopes around the call exclude each other: " + around.error().message};
  }
  const ScopeStack& scopes = *around;
  const Action action{call.agent_id, call.tool, question.classification.effect_class};
  TierInputs inputs{.policy = policy_,
                    .action = action,
                    .scopes = scopes,
                    .tool_tier = question.classification.tier,
                    .context_tier = call.context_tier,
                    .rules = question.rules,
                    .controls = {standing->promoted_to, standing->demoted_to},
                    .grant_ceiling = question.grant_ceiling,
                    .trust_cap = trust_cap(call.agent_id, *standing, records),
                    .steps = question.steps};
  EffectiveTier tier = effective_tier(inputs);
  core::AutonomyAnswer answer;
  const Budget& budget = scopes.bounds().budget;
  const bool counted =
      tier.tier == Autonomy::ActAuto && tier.source != Source::Observe && budget != Budget{};
  if (counted) {
    const Result<void> known = weigh_budget(question, budget, records, now, inputs, answer);
    if (!known) return tier_unknown(known.error());
    tier = effective_tier(inputs);
  }
  answer.tier = tier.tier;
  answer.source = to_string(tier.source);
  answer.needs_human = needs_human(inputs);
  if (scopes.depth() > 0) answer.bounds = bounds_of(scopes.bounds());
  return answer;
}

Result<ScopeStack> PolicyRules::scopes_around(const Call& call) const {
  ScopeStack scopes(policy_);
  for (const PolicyScope& scope : scopes_) {
    if (scope.covers(call)) SALLYPORT_CHECK_OK(scopes.add(scope.policy));
  }
  if (const auto& own = call.scopes.stack()) SALLYPORT_CHECK_OK(scopes.add_all(*own));
  return scopes;
}

// The agent's level follows from its own tier, not from that of the action.
std::optional<Autonomy> PolicyRules::trust_cap(const std::string& agent,
                                               const trust::Standing& standing,
                                               core::RecordReader& records) const {
  if (!enforce_trust_) return std::nullopt;
  const auto stored = records.fact(trust::kTallySpace, agent);
  const Result<trust::Tally> tally = stored ? trust::Tally::parse(stored->value_or(""))
                                            : Result<trust::Tally>(std::unexpected(stored.error()));
  if (!tally) return Autonomy::Shadow;
  const auto declared = policy_.tier_for({.agent = agent});
  const Autonomy tier = standing.effective(declared ? declared->tier : Autonomy::ActWithApproval);
  return trust::tier_cap(tally->level(tier));
}

core::Draft PolicyRules::remember(const core::Remembered& ended, WallTime now) const {
  return trust_memory(ended, now, clock_, entropy_);
}

bool PolicyRules::may_ask() const {
  const AutonomyPolicy open{.agent_id = policy_.agent_id, .tier = Autonomy::ActAuto};
  return enforce_trust_ || policy_ != open || !scopes_.empty();
}

json::object PolicyRules::dump() const {
  json::object object = to_json(policy_);
  object["enforce_trust"] = enforce_trust_;
  if (!scopes_.empty()) {
    json::array scopes;
    for (const PolicyScope& scope : scopes_) scopes.push_back(to_json(scope));
    object["scopes"] = std::move(scopes);
  }
  return object;
}

json::object to_json(const AutonomyPolicy& policy) {
  json::object object;
  const auto put = [&](const char* name, auto value) { object[name] = std::move(value); };
  if (policy.agent_id) put("agent_id", json::value(*policy.agent_id));
  if (policy.autonomy_tier) put("autonomy_tier", to_string(*policy.autonomy_tier));
  if (policy.tier) put("tier", to_string(*policy.tier));
  if (!policy.action_tiers.empty()) put("action_tiers", to_json(policy.action_tiers));
  if (!policy.agent_tiers.empty()) put("agent_tiers", to_json(policy.agent_tiers));
  if (!policy.agent_action_tiers.empty()) {
    json::object agents;
    for (const auto& [agent, table] : policy.agent_action_tiers) agents[agent] = to_json(table);
    put("agent_action_tiers", std::move(agents));
  }
  if (!policy.reviewers.empty()) put("reviewers", to_json(policy.reviewers));
  if (policy.requires_human) put("requires_human", true);
  if (!policy.requires_human_actions.empty()) {
    put("requires_human_actions", to_json(policy.requires_human_actions));
  }
  if (!policy.requires_human_agents.empty()) {
    put("requires_human_agents", to_json(policy.requires_human_agents));
  }
  if (policy.quorum) put("quorum", *policy.quorum);
  if (policy.deadline_s) put("deadline_s", *policy.deadline_s);
  if (policy.use_within_s) put("use_within_s", *policy.use_within_s);
  json::object budget;
  if (policy.budget.max_per_hour) budget["max_per_hour"] = *policy.budget.max_per_hour;
  if (policy.budget.max_per_day) budget["max_per_day"] = *policy.budget.max_per_day;
  if (!budget.empty()) put("budget", std::move(budget));
  if (policy.ceiling) put("ceiling", to_string(*policy.ceiling));
  return object;
}

}  // namespace sallyport::autonomy
