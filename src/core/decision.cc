#include "core/decision.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "core/judge.h"

namespace sallyport::core {

namespace {

constexpr unsigned kMaxPasses = 4;

// Runs the guards of one pass and writes down what each of them said.
class Pass {
 public:
  Pass(Trail& trail, const Clock& clock, unsigned number)
      : trail_(trail), clock_(clock), number_(number) {}

  Async<void> run(std::shared_ptr<const Guard> guard) {
    const GuardTraits& traits = guard->traits();
    GuardRun run{.guard = traits.name, .stage = traits.stage, .pass = number_};
    if (denied_) {
      run.verdict = "skipped";
      run.why = "denied_earlier";
      trail_.guard_runs.push_back(std::move(run));
      co_return;
    }
    Judged judged = co_await judge(guard, trail_.call(), trail_.classification(), clock_);
    run.duration_us = judged.duration_us;
    run.rule = judged.verdict.rule;
    run.evidence = judged.verdict.evidence;
    if (!judged.failure && judged.verdict.kind == Verdict::Kind::Rewrite &&
        !check_json(judged.verdict.value)) {
      judged.failure = "malformed";
    }
    if (judged.failure) {
      take_failure(traits, *judged.failure, run);
    } else {
      if (trail_.plan().fails_open(traits.name)) trail_.fail_open.worked(traits.name);
      take_verdict(traits, std::move(judged.verdict), run);
    }
    trail_.guard_runs.push_back(std::move(run));
  }

  bool rewrote() const { return rewrote_; }

 private:
  // A failure denies, and does not keep later guards from being heard.
  void take_failure(const GuardTraits& traits, const std::string& failure, GuardRun& run) {
    run.verdict = "error";
    if (trail_.plan().fails_open(traits.name)) {
      run.why = "fail_open";
      trail_.fail_open.failed(traits.name, failure);
      return;
    }
    run.why = failure;
    trail_.refuse({fmt::format("guard {} failed: {}", traits.name, failure), traits.name});
  }

  void take_verdict(const GuardTraits& traits, Verdict verdict, GuardRun& run) {
    switch (verdict.kind) {
      case Verdict::Kind::Allow:
        run.verdict = "allow";
        return;
      case Verdict::Kind::Deny:
        run.verdict = "deny";
        denied_ = true;
        trail_.refuse({verdict.reason.empty() ? "denied by " + traits.name : verdict.reason,
                       traits.name, traits.stage == Stage::PreHook});
        return;
      case Verdict::Kind::Ask:
        run.verdict = "ask";
        if (!trail_.question) trail_.question = std::move(verdict.reason);
        return;
      case Verdict::Kind::Escalate:
        run.verdict = "escalate";
        trail_.escalations.push_back(std::move(verdict.reason));
        return;
      case Verdict::Kind::Rewrite:
        take_rewrite(std::move(verdict), run);
    }
  }

  void take_rewrite(Verdict verdict, GuardRun& run) {
    const std::string before = canonical_json(trail_.call().input);
    const std::string after = canonical_json(verdict.value);
    run.verdict = before == after ? "allow" : "rewrite";
    if (before == after) return;
    run.evidence = json::object{
        {"before", trail_.digest(before)},
        {"after", trail_.digest(after)},
        {"reason", verdict.reason.empty() ? json::value() : json::value(verdict.reason)}};
    trail_.replace_input(std::move(verdict.value));
    rewrote_ = true;
  }

  Trail& trail_;
  const Clock& clock_;
  unsigned number_;
  bool denied_ = false;
  bool rewrote_ = false;
};

}  // namespace

Async<void> decide(Trail& trail, const Clock& clock) {
  const Plan& plan = trail.plan();
  for (unsigned number = 1;; ++number) {
    Pass pass(trail, clock, number);
    for (const std::shared_ptr<const Guard>& guard : plan.guards()) {
      if (number == 1 && guard->traits().rewrites) co_await pass.run(guard);
    }
    Pass deciding(trail, clock, number);
    for (const std::shared_ptr<const Guard>& guard : plan.guards()) {
      if (!guard->traits().rewrites) co_await deciding.run(guard);
    }
    if (!deciding.rewrote() || !trail.open()) co_return;
    if (number == kMaxPasses) {
      trail.refuse({"rewrite did not settle"});
      co_return;
    }
  }
}

}  // namespace sallyport::core
