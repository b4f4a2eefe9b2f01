#include "core/call/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "core/plan/judge.h"

namespace sallyport::core {

namespace {

constexpr unsigned kMaxPasses = 4;

// Guards of the host and of other programs, which hear of what the policy has not refused.
bool is_outer(Stage stage) {
  return stage != Stage::Grant && stage != Stage::ToolUse;
}

GuardRun not_yet_run(const GuardTraits& traits, unsigned pass) {
  return {.guard = traits.name, .stage = std::string(to_string(traits.stage)), .pass = pass};
}

// Two inputs that a double would make one stay two.
std::string exact_text(const std::optional<std::string>& raw, const json::value& value) {
  return raw ? *raw : canonical_json(value);
}

// Runs the guards of one pass and writes down what each of them said.
class Pass {
 public:
  struct Circumstances {
    const Preview& preview;
    const Clock& clock;
    std::stop_token cancel;
  };
  Pass(Trail& trail, Circumstances circumstances, unsigned number)
      : trail_(trail),
        circumstances_(std::move(circumstances)),
        number_(number),
        context_{trail.classification(), number, circumstances_.preview,
                 trail.facts ? &*trail.facts : nullptr} {}

  Async<void> run(std::shared_ptr<const Guard> guard) {
    const GuardTraits& traits = guard->traits();
    GuardRun run = not_yet_run(traits, number_);
    if (skipped(run)) co_return;
    context_.around = traits.outside ? trail_.surroundings() : nullptr;
    const bool sees_grants = traits.stage == Stage::Grant;
    std::optional<Call> with_grants;
    if (sees_grants) with_grants = trail_.call_with_grants();
    Judged judged = co_await judge(guard, sees_grants ? *with_grants : trail_.call(), context_,
                                   circumstances_.clock, circumstances_.cancel);
    if (judged.cancelled && skipped(run)) co_return;
    if (sees_grants) trail_.grant = judged.failure ? nullptr : judged.verdict.grant;
    run.duration_us = judged.duration_us;
    if (!judged.verdict.rule.empty()) run.rule = judged.verdict.rule;
    run.evidence = judged.verdict.evidence;
    trail_.note(std::move(judged.verdict.findings));
    if (judged.failure) {
      take_failure(traits, judged, run);
    } else {
      if (trail_.plan().fails_open(traits.name)) trail_.fail_open.worked(traits.name);
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

  // Rewriting guards ran ahead of the others; the record has them in the order of the plan.
  void write_down(const std::vector<std::shared_ptr<const Guard>>& order) {
    for (const std::shared_ptr<const Guard>& guard : order) {
      const auto run = std::ranges::find(runs_, guard->traits().name, &GuardRun::guard);
      if (run != runs_.end()) trail_.guard_runs.push_back(std::move(*run));
    }
  }

  // The rules of the policy, behind the guards that look at grants and texts (RU-11).
  void run_rules() {
    const std::shared_ptr<const CallRules>& rules = trail_.plan().rules();
    if (!rules || (denied_ && !trail_.hears_all) || cancelled_ || judged_) return;
    judged_ = true;
    trail_.judged(rules->judge(
        {trail_.call(), trail_.upstream, trail_.workspace, circumstances_.clock.wall()}));
    context_.classification = trail_.classification();
    if (trail_.rules->verdict != RuleAnswer::Verdict::Refused) return;
    denied_ = true;
    trail_.refuse({trail_.rules->text, Refusal::By::Plan});
  }

  // What rewriting guards changed is what the deciding ones have before them.
  void begin_deciding() { rewrote_ = false; }
  bool rewrote() const { return rewrote_; }

 private:
  bool skipped(GuardRun& run) {
    if (!denied_ && circumstances_.cancel.stop_requested()) {
      trail_.refuse({"cancelled", Refusal::By::Cancel});
      cancelled_ = true;
    }
    if ((!denied_ || trail_.hears_all) && !cancelled_) return false;
    run.verdict = GuardVerdict::Skipped;
    run.why = denied_ ? "denied_earlier" : "cancelled";
    runs_.push_back(std::move(run));
    return true;
  }

  // A failure denies, and does not keep later guards from being heard.
  void take_failure(const GuardTraits& traits, const Judged& judged, GuardRun& run) {
    run.verdict = GuardVerdict::Error;
    // What would be said is unknown, which lets nothing pass.
    const bool unasked = judged.failure == GuardFailure::NotOurs;
    const std::string failure(to_string(*judged.failure));
    if (trail_.plan().fails_open(traits.name) && !unasked) {
      run.why = "fail_open";
      trail_.fail_open.failed(traits.name, failure);
      return;
    }
    run.why = failure;
    // A host's authorizer speaks for itself.
    const bool said =
        traits.stage == Stage::Authorizer && is_utf8(judged.detail) && !judged.detail.empty();
    trail_.refuse({said ? judged.detail : fmt::format("guard {} failed: {}", traits.name, failure),
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
        trail_.refuse(
            {verdict.reason.empty() ? "denied by " + traits.name : verdict.reason, by(traits)});
        return;
      case Verdict::Kind::Ask:
        run.verdict = GuardVerdict::Ask;
        if (!trail_.question) trail_.question = std::move(verdict.reason);
        return;
      case Verdict::Kind::Escalate:
        run.verdict = GuardVerdict::Escalate;
        trail_.escalations.push_back(
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
    const std::string before = exact_text(trail_.call().raw_input, trail_.call().input);
    const std::string after = exact_text(verdict.raw, verdict.value);
    run.verdict = before == after ? GuardVerdict::Allow : GuardVerdict::Rewrite;
    if (before == after) return;
    if (!run.evidence.is_object()) run.evidence = json::object();
    json::object& evidence = run.evidence.get_object();
    evidence["before"] = trail_.digest(before);
    evidence["after"] = trail_.digest(after);
    evidence["reason"] = verdict.reason.empty() ? json::value() : json::value(verdict.reason);
    if (trail_.prepared()) {
      trail_.refuse({"what was prepared cannot be rewritten by " + traits.name, by(traits)});
      return;
    }
    trail_.replace_input(std::move(verdict.value), std::move(verdict.raw));
    rewrote_ = true;
  }

  Trail& trail_;
  Circumstances circumstances_;
  unsigned number_;
  GuardContext context_;  // what the guards of this pass are told beside the call
  bool denied_ = false;
  bool cancelled_ = false;
  bool rewrote_ = false;
  bool judged_ = false;  // the rules were asked
  std::vector<GuardRun> runs_;
};

}  // namespace

Async<void> decide(Trail& trail, const Preview& preview, const Clock& clock,
                   std::stop_token cancel) {
  const Plan& plan = trail.plan();
  const Pass::Circumstances circumstances{preview, clock, std::move(cancel)};
  const unsigned before =
      trail.guard_runs.empty() ? 0 : static_cast<unsigned>(trail.guard_runs.back().pass);
  for (unsigned number = before + 1;; ++number) {
    Pass pass(trail, circumstances, number);
    // Once, and never on what a tool has prepared: that is one thing or another, not a draft.
    const bool rewriting = number == 1 && !trail.prepared();
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
    if (!pass.rewrote() || !trail.open()) co_return;
    if (number == before + kMaxPasses) {
      trail.refuse({"rewrite did not settle", Refusal::By::Hook});
      co_return;
    }
  }
}

void list_unreached(Trail& trail) {
  for (const std::shared_ptr<const Guard>& guard : trail.plan().guards()) {
    GuardRun run = not_yet_run(guard->traits(), 1);
    run.verdict = GuardVerdict::Skipped;
    run.why = "stage_not_reached";
    trail.guard_runs.push_back(std::move(run));
  }
}

}  // namespace sallyport::core
