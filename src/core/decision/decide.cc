#include "core/decision/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "core/call/preparing.h"
#include "core/event/topic_event.h"
#include "core/plan/judge.h"

namespace sallyport::core {

namespace {

constexpr unsigned kMaxPasses = 4;
constexpr std::string_view kExpiredSpace = "rule_expired";

// Guards of the host and of other programs, which judge only calls that the policy did not refuse.
bool is_outer(Stage stage) {
  return stage != Stage::Grant && stage != Stage::ToolUse;
}

GuardRun not_yet_run(const GuardTraits& traits, unsigned pass) {
  return {.guard = traits.name, .stage = std::string(to_string(traits.stage)), .pass = pass};
}

// Keeps two inputs apart that a double would make equal.
std::string exact_text(const std::optional<std::string>& raw, const json::value& value) {
  return raw ? *raw : canonical_json(value);
}

// Runs the guards of one pass and writes down their verdicts.
class Pass {
 public:
  Pass(Decision& decision, const Circumstances& seen, unsigned number)
      : decision_(decision),
        seen_(seen),
        number_(number),
        context_{decision.classification(), number, seen.preview, &seen.facts} {
    runs_.reserve(decision.plan().guards().size());
  }

  Async<void> run(std::shared_ptr<const Guard> guard) {
    const GuardTraits& traits = guard->traits();
    GuardRun run = not_yet_run(traits, number_);
    if (skipped(run)) co_return;
    context_.around = traits.outside ? decision_.surroundings() : nullptr;
    const bool sees_grants = traits.stage == Stage::Grant;
    std::optional<Call> with_grants;
    if (sees_grants) with_grants = decision_.call_with_grants();
    Judged judged = co_await judge(guard, sees_grants ? *with_grants : decision_.call(), context_,
                                   seen_.clock, seen_.cancel);
    if (judged.cancelled && skipped(run)) co_return;
    if (sees_grants) take_grant(judged);
    run.duration_us = judged.duration_us;
    if (!judged.verdict.rule.empty()) run.rule = std::move(judged.verdict.rule);
    run.evidence = std::move(judged.verdict.evidence);
    decision_.note(std::move(judged.verdict.findings));
    if (judged.failure) {
      take_failure(traits, judged, run);
    } else {
      if (decision_.plan().fails_open(traits.name)) decision_.fail_open.worked(traits.name);
      take_verdict(traits, std::move(judged.verdict), run);
    }
    runs_.push_back(std::move(run));
  }

  void not_applicable(const GuardTraits& traits) {
    GuardRun run = not_yet_run(traits, number_);
    run.verdict = GuardVerdict::Skipped;
    run.why = "not_applicable";
    runs_.push_back(std::move(run));
  }

  // Rewriting guards run before the others. The record has all in the order of the plan.
  void write_down(const std::vector<std::shared_ptr<const Guard>>& order) {
    std::vector<GuardRun>& written = decision_.change_guard_runs();
    written.reserve(written.size() + order.size());
    for (const std::shared_ptr<const Guard>& guard : order) {
      const auto run = std::ranges::find(runs_, guard->traits().name, &GuardRun::guard);
      if (run != runs_.end()) written.push_back(std::move(*run));
    }
  }

  // The rules of the policy, after the guards that judge grants and texts (RU-11).
  void run_rules() {
    const std::shared_ptr<const CallRules>& rules = decision_.plan().rules();
    if (!rules || (denied_ && !seen_.asks_all) || cancelled_ || judged_) return;
    judged_ = true;
    decision_.judged(
        rules->judge({decision_.call(), decision_.upstream, decision_.workspace, seen_.now}));
    context_.classification = decision_.classification();
    if (decision_.rules->verdict != RuleAnswer::Verdict::Refused) return;
    denied_ = true;
    decision_.refuse({decision_.rules->text, Refusal::By::Plan});
  }

  // The deciding guards judge the rewritten input.
  void begin_deciding() { rewrote_ = false; }
  bool rewrote() const { return rewrote_; }

 private:
  bool skipped(GuardRun& run) {
    if (!denied_ && seen_.cancel.stop_requested()) {
      decision_.refuse({"cancelled", Refusal::By::Cancel});
      cancelled_ = true;
    }
    if ((!denied_ || seen_.asks_all) && !cancelled_) return false;
    run.verdict = GuardVerdict::Skipped;
    run.why = denied_ ? "denied_earlier" : "cancelled";
    runs_.push_back(std::move(run));
    return true;
  }

  // A denied call uses no grant. Its token can be listed and revoked all the same (CG-61, CG-63).
  void take_grant(const Judged& judged) {
    const bool denied = judged.verdict.kind == Verdict::Kind::Deny;
    decision_.shown_grant = judged.failure ? nullptr : judged.verdict.grant;
    decision_.grant = denied ? nullptr : decision_.shown_grant;
  }

  // A failure denies. Later guards still run.
  void take_failure(const GuardTraits& traits, const Judged& judged, GuardRun& run) {
    run.verdict = GuardVerdict::Error;
    // The verdict is unknown, so the call does not pass.
    const bool unasked = judged.failure == GuardFailure::NotOurs;
    const std::string failure(to_string(*judged.failure));
    if (decision_.plan().fails_open(traits.name) && !unasked) {
      run.why = "fail_open";
      decision_.fail_open.failed(traits.name, failure);
      return;
    }
    run.why = failure;
    // The text of a host's authorizer is used as it is.
    const bool explains =
        traits.stage == Stage::Authorizer && is_utf8(judged.detail) && !judged.detail.empty();
    decision_.refuse(
        {explains ? judged.detail : fmt::format("guard {} failed: {}", traits.name, failure),
         by(traits)});
  }

  void take_verdict(const GuardTraits& traits, Verdict verdict, GuardRun& run) {
    switch (verdict.kind) {
      case Verdict::Kind::Allow:
        run.verdict = GuardVerdict::Allow;
        return;
      case Verdict::Kind::Deny:
        run.verdict = GuardVerdict::Deny;
        denied_ = true;
        decision_.refuse(
            {verdict.reason.empty() ? "denied by " + traits.name : verdict.reason, by(traits)});
        return;
      case Verdict::Kind::Ask:
        run.verdict = GuardVerdict::Ask;
        if (!decision_.question) decision_.question = std::move(verdict.reason);
        return;
      case Verdict::Kind::Escalate:
        run.verdict = GuardVerdict::Escalate;
        decision_.escalations.push_back(
            {traits.name, escalation_text(traits.name, std::move(verdict.reason))});
        return;
      case Verdict::Kind::Rewrite:
        take_rewrite(traits, std::move(verdict), run);
    }
  }

  static Refusal::By by(const GuardTraits& traits) {
    return traits.stage == Stage::PreHook ? Refusal::By::Hook : Refusal::By::Plan;
  }

  void take_rewrite(const GuardTraits& traits, Verdict verdict, GuardRun& run) {
    const std::string before = exact_text(decision_.call().raw_input, decision_.call().input);
    const std::string after = exact_text(verdict.raw, verdict.value);
    run.verdict = before == after ? GuardVerdict::Allow : GuardVerdict::Rewrite;
    if (before == after) return;
    if (!run.evidence.is_object()) run.evidence = json::object();
    json::object& evidence = run.evidence.get_object();
    evidence["before"] = decision_.digest(before);
    evidence["after"] = decision_.digest(after);
    evidence["reason"] = verdict.reason.empty() ? json::value() : json::value(verdict.reason);
    if (decision_.prepared()) {
      decision_.refuse({"what was prepared cannot be rewritten by " + traits.name, by(traits)});
      return;
    }
    decision_.replace_input(std::move(verdict.value), std::move(verdict.raw));
    rewrote_ = true;
  }

  Decision& decision_;
  const Circumstances& seen_;
  unsigned number_;
  GuardContext context_;  // what the guards of this pass get beside the call
  bool denied_ = false;
  bool cancelled_ = false;
  bool rewrote_ = false;
  bool judged_ = false;  // the rules were asked
  std::vector<GuardRun> runs_;
};

// Runs the guards and the rules until the input no longer changes.
Async<void> ask_guards(Decision& decision, const Circumstances& seen) {
  const Plan& plan = decision.plan();
  const unsigned before =
      decision.guard_runs().empty() ? 0 : static_cast<unsigned>(decision.guard_runs().back().pass);
  for (unsigned number = before + 1;; ++number) {
    Pass pass(decision, seen, number);
    // Rewrites once, and never a prepared operation, because that is fixed.
    const bool rewriting = number == 1 && !decision.prepared();
    for (const std::shared_ptr<const Guard>& guard : plan.guards()) {
      if (!guard->traits().rewrites) continue;
      if (rewriting) {
        co_await pass.run(guard);
      } else {
        pass.not_applicable(guard->traits());
      }
    }
    pass.begin_deciding();
    for (const std::shared_ptr<const Guard>& guard : plan.guards()) {
      if (guard->traits().rewrites) continue;
      if (is_outer(guard->traits().stage)) pass.run_rules();
      co_await pass.run(guard);
    }
    pass.run_rules();
    pass.write_down(plan.guards());
    if (!pass.rewrote() || !decision.open()) co_return;
    if (number == before + kMaxPasses) {
      decision.refuse({"rewrite did not settle", Refusal::By::Hook});
      co_return;
    }
  }
}

Async<void> judge_call(Decision& decision, const Circumstances& seen) {
  if (decision.prepared()) {
    if (const auto over = expired(*decision.prepared(), seen.now)) {
      decision.refuse({*over, Refusal::By::Preparation});
      co_return;
    }
  }
  co_await ask_guards(decision, seen);
  if (!decision.open() || decision.prepared() || !seen.prepare) co_return;
  co_await seen.prepare();
  // The prepared operation will run, so it is decided too.
  if (decision.open()) co_await ask_guards(decision, seen);
}

// Adds the items of rules that let a call pass and queue it for people (RU-19).
void note_items(Decision& decision) {
  for (const RuleItem& item : decision.rules->items) {
    const std::string rule = "rule " + item.rule;
    decision.escalations.push_back({rule, escalation_text(rule, item.message)});
  }
}

// The first call writes it, also one that is refused (RU-20).
void note_expired(Decision& decision, DecisionFacts& facts) {
  for (const std::string& rule : decision.rules->expired) {
    const std::string key = canonical_json(json::array{decision.plan().hash(), rule});
    const auto recorded = facts.fact(kExpiredSpace, key);
    if (!recorded || *recorded) continue;
    Draft draft{.kind = Kind::Topic,
                .subject = decision.subject(),
                .topic = "rules",
                .body = {{"record", "rule_expired"}, {"rule", rule}}};
    draft.facts.push_back({std::string(kExpiredSpace), key, "told"});
    decision.rows.push_back(std::move(draft));
  }
}

bool rules_ask(const Decision& decision) {
  return decision.rules && decision.rules->verdict == RuleAnswer::Verdict::Asks;
}

RuleAdvice advice_of(const Decision& decision) {
  if (!decision.rules) return RuleAdvice::Nothing;
  if (rules_ask(decision)) return RuleAdvice::Asks;
  return decision.rules->verdict == RuleAnswer::Verdict::Allowed ? RuleAdvice::Allows
                                                                 : RuleAdvice::Nothing;
}

// The classification for the tiers: a call with only free effects is not tiered (RU-5).
Classification untiered(const Decision& decision) {
  Classification seen = decision.classification();
  if (!decision.is_tiered()) seen.tier = Tier::Observe;
  return seen;
}

std::optional<std::string> replay_of(const Decision& decision) {
  return decision.replay_of.empty() ? std::nullopt : std::optional(decision.replay_of);
}

// Finds the tier, and takes over the rest of its answer.
void find_tier(Decision& decision, const Circumstances& seen) {
  const std::optional<Autonomy> ceiling = decision.grant ? decision.grant->ceiling : std::nullopt;
  decision.spending.reset();
  if (const AutonomyRules* const rules = decision.plan().rules_for(decision.call())) {
    AutonomyAnswer answer =
        rules->weigh({.call = decision.call(),
                      .classification = untiered(decision),
                      .grant_ceiling = ceiling,
                      .steps = seen.tier_steps,
                      .people = decision.plan().approvals().people.get(),
                      .rules = advice_of(decision)},
                     // A budget counts by the time that the record says (WB-10).
                     seen.facts, seen.now);
    decision.autonomy = answer.tier;
    decision.autonomy_source = std::move(answer.source);
    decision.needs_human = answer.needs_human;
    decision.spending = std::move(answer.spending);
    decision.scopes = std::move(answer.bounds);
    if (!answer.refusal.empty()) decision.refuse({std::move(answer.refusal)});
    for (Draft& event : answer.events) decision.rows.push_back(std::move(event));
    return;
  }
  if (seen.tier_steps)
    seen.tier_steps->push_back({decision.autonomy_source, decision.autonomy, {}});
  const bool lifted =
      advice_of(decision) == RuleAdvice::Allows && decision.autonomy >= Autonomy::ActWithApproval;
  const bool capped =
      advice_of(decision) == RuleAdvice::Asks && decision.autonomy == Autonomy::ActAuto;
  if (lifted || capped) {
    decision.autonomy = lifted ? Autonomy::ActAuto : Autonomy::ActWithApproval;
    decision.autonomy_source = "rule";
    if (seen.tier_steps) seen.tier_steps->push_back({"rule", decision.autonomy, {}});
  }
  if (seen.tier_steps && ceiling) seen.tier_steps->push_back({"grant", *ceiling, {}});
  if (ceiling && *ceiling < decision.autonomy) {
    decision.autonomy = *ceiling;
    decision.autonomy_source = "grant";
  }
}

void weigh(Decision& decision, const Circumstances& seen) {
  find_tier(decision, seen);
  if (!decision.open()) return;
  const bool confirm = decision.is_tiered();
  decision.weighed = decision.weighed || confirm;
  if (confirm && decision.autonomy == Autonomy::Shadow) {
    decision.rows.push_back(proposal_of(decision));
    decision.refuse({"shadow: " + decision.call().tool + " was not run", Refusal::By::Autonomy});
    return;
  }
  const bool asks = decision.question || rules_ask(decision) ||
                    (confirm && decision.autonomy != Autonomy::ActAuto);
  if (std::optional<std::string> why = asks ? decision.no_reviewers() : std::nullopt) {
    decision.refuse({std::move(*why)});
    return;
  }
  decision.needs_person = asks && !(decision.consent && decision.consent->covers(decision));
}

// True if the decision begins anew after an answer (AP-9), and its plan gives tiers.
bool lost_its_tier(const Decision& decision) {
  return decision.autonomy_source == kTierOfPlan &&
         decision.plan().rules_for(decision.call()) != nullptr;
}

}  // namespace

Async<void> decide(Decision& decision, const Circumstances& seen) {
  decision.decided_at = rfc3339(seen.now);
  decision.note(seen.hidden);
  if (seen.unfit) decision.refuse(*seen.unfit);
  if (decision.open()) {
    co_await judge_call(decision, seen);
  } else if (decision.guard_runs().empty()) {
    list_unreached(decision);
  }
  if (decision.rules) note_expired(decision, seen.facts);
  if (decision.open()) {
    if (decision.rules) note_items(decision);
    weigh(decision, seen);
  } else if (!decision.weighed || lost_its_tier(decision)) {
    decision.autonomy_source = "not_weighed";  // refused before its tier was found
  }
  if (!decision.open()) decision.needs_person = false;
  const bool tier_unknown = seen.tier_steps != nullptr && seen.tier_steps->empty();
  if (seen.asks_all && !decision.open() && tier_unknown) find_tier(decision, seen);
  decision.as_of = seen.facts.as_of();
}

void list_unreached(Decision& decision) {
  for (const std::shared_ptr<const Guard>& guard : decision.plan().guards()) {
    GuardRun run = not_yet_run(guard->traits(), 1);
    run.verdict = GuardVerdict::Skipped;
    run.why = "stage_not_reached";
    decision.change_guard_runs().push_back(std::move(run));
  }
}

Draft proposal_of(const Decision& decision) {
  const Call& call = decision.call();
  return dispatch_proposed({.about = {.agent = call.agent_id,
                                      .trace_id = call.trace_id,
                                      .autonomy_tier = decision.autonomy},
                            .action = decision.classification().effect_class,
                            .tool = call.tool,
                            .effect_class = decision.classification().effect_class,
                            .input = call.input,
                            .replay_of_event_id = replay_of(decision),
                            .call_id = call.call_id,
                            .approval_request_id = decision.approval_id});
}

}  // namespace sallyport::core
