#include "core/plan/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "base/cut_text.h"
#include "core/plan/judge.h"
#include "core/record/read_field.h"
#include "core/record/shapes.h"

namespace sallyport::core {

namespace {

// The second door has its own words for some verdicts (PI-3).
constexpr Word<GuardVerdict> kResultVerdicts[] = {
    {"allow", GuardVerdict::Allow},    {"block", GuardVerdict::Deny},
    {"redact", GuardVerdict::Rewrite}, {"escalate", GuardVerdict::Escalate},
    {"error", GuardVerdict::Error},
};
constexpr Word<Release::GuardState::State> kGuardStates[] = {
    {"ran", Release::GuardState::State::Ran},
    {"skipped", Release::GuardState::State::Skipped},
    {"not_reached", Release::GuardState::State::NotReached},
};

GuardVerdict verdict_of(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::Allow:
      return GuardVerdict::Allow;
    case Verdict::Kind::Deny:
      return GuardVerdict::Deny;
    case Verdict::Kind::Rewrite:
      return GuardVerdict::Rewrite;
    case Verdict::Kind::Ask:  // refused before as malformed
    case Verdict::Kind::Escalate:
      break;
  }
  return GuardVerdict::Escalate;
}

// A redaction replaces content. It changes neither the kind of an answer nor that it was cut short.
std::optional<Envelope> redacted(const Verdict& verdict, const Envelope& current) {
  Result<Envelope> envelope = Envelope::from_json(verdict.value);
  if (!envelope || envelope->kind != current.kind) return std::nullopt;
  if (envelope->complete && !current.complete) return std::nullopt;
  return std::move(*envelope);
}

class Fold {
 public:
  Fold(const Plan& plan, FailOpen& fail_open, Envelope original)
      : plan_(plan), fail_open_(fail_open), current_(std::move(original)) {
    keep_limits();
  }

  const Envelope& current() const { return current_; }
  bool blocked_deliberately() const { return deliberate_; }

  void not_reached(const GuardTraits& traits) {
    release_.guards.push_back({traits.name, State::NotReached});
  }

  void take(const GuardTraits& traits, Judged judged) {
    if (judged.cancelled) return skip(traits);
    std::ranges::move(judged.verdict.findings, std::back_inserter(release_.findings));
    if (!judged.failure) apply(traits, judged);
    if (judged.failure) return fail(traits, judged);
    if (plan_.fails_open(traits.name)) fail_open_.worked(traits.name);
    release_.guards.push_back(
        {traits.name, State::Ran, "", verdict_of(judged.verdict.kind), judged.duration_us});
    note_evidence(traits, judged.verdict, judged.verdict.kind != Verdict::Kind::Deny);
  }

  Release finish() {
    if (release_.verdict == Verdict::Kind::Deny) {
      release_.original = std::move(before_rewrites_ ? *before_rewrites_ : current_);
      release_.released = Envelope::error(words_.value_or(
          fmt::format("Result withheld by {}: {}", release_.guard, release_.reason)));
      return std::move(release_);
    }
    if (before_rewrites_) {
      release_.original = std::move(*before_rewrites_);
    } else if (current_.malformed_bytes) {
      release_.original = current_;
    }
    release_.released = std::move(current_);
    if (before_rewrites_ && !same(release_.released, release_.original)) {
      release_.verdict = Verdict::Kind::Rewrite;
    } else if (!release_.escalations.empty()) {
      release_.verdict = Verdict::Kind::Escalate;
      for (const Escalation& escalation : release_.escalations) {
        if (!release_.reason.empty()) release_.reason += "; ";
        release_.reason += escalation.message;
      }
    }
    return std::move(release_);
  }

 private:
  using State = Release::GuardState::State;

  void keep_limits() {
    if (current_.kind == Envelope::Kind::Stream) cut_to_limits(plan_.stream_limits(), current_);
  }

  void apply(const GuardTraits& traits, Judged& judged) {
    Verdict& verdict = judged.verdict;
    switch (verdict.kind) {
      case Verdict::Kind::Allow:
        return;
      case Verdict::Kind::Deny:
        if (verdict.reason.empty()) {
          judged.failure = GuardFailure::Malformed;
          return;
        }
        // The guard's own text for the agent, if it has one (GR-36, RU-63).
        if (verdict.value.is_string() && release_.verdict != Verdict::Kind::Deny) {
          words_ = verdict.value.get_string();
        }
        block(traits.name, verdict.reason);
        deliberate_ = true;
        return;
      case Verdict::Kind::Rewrite:
        if (std::optional<Envelope> envelope = redacted(verdict, current_)) {
          if (!before_rewrites_) before_rewrites_ = std::move(current_);
          current_ = std::move(*envelope);
          keep_limits();
        } else {
          judged.failure = GuardFailure::Malformed;
        }
        return;
      case Verdict::Kind::Escalate:
        release_.escalations.push_back(
            {traits.name, escalation_text(traits.name, std::move(verdict.reason))});
        return;
      case Verdict::Kind::Ask:
        judged.failure = GuardFailure::Malformed;  // after the call no person can be asked
    }
  }

  // A result that no guard has judged is not shown, even if the plan lets guards fail open: the
  // caller has left.
  void skip(const GuardTraits& traits) {
    release_.guards.push_back({traits.name, State::Skipped, "cancelled"});
    block(traits.name, "cancelled");
    release_.cancelled = true;
  }

  void fail(const GuardTraits& traits, const Judged& judged) {
    const bool open = plan_.fails_open(traits.name);
    const bool erred = judged.failure == GuardFailure::Error;
    const std::string failure(to_string(erred ? GuardFailure::Exception : *judged.failure));
    release_.guards.push_back({traits.name, open ? State::Skipped : State::Ran,
                               open ? "fail_open" : failure, GuardVerdict::Error,
                               judged.duration_us});
    note_evidence(traits, judged.verdict, false);
    if (open) return fail_open_.failed(traits.name, failure);
    if (!release_.failure) release_.failure = Release::Failure{traits.name, failure};
    const bool redaction = judged.failure == GuardFailure::Malformed && judged.detail.empty();
    const std::string cause = redaction ? "malformed redaction" : failure;
    block(traits.name, fmt::format("guard {} failed: {}", traits.name, cause));
  }

  // The first failure or block stays the verdict.
  void block(const std::string& guard, std::string reason) {
    if (release_.verdict == Verdict::Kind::Deny) return;
    release_.verdict = Verdict::Kind::Deny;
    release_.guard = guard;
    release_.reason = std::move(reason);
  }

  void note_evidence(const GuardTraits& traits, const Verdict& verdict, bool passed) {
    if (verdict.evidence.is_null() && passed) return;
    const std::string details = verdict.evidence.is_null() ? ""
                                : verdict.evidence.is_string()
                                    ? std::string(verdict.evidence.get_string())
                                    : canonical_json(verdict.evidence);
    release_.evidence.push_back({traits.name, passed, verdict.rule, details});
  }

  const Plan& plan_;
  FailOpen& fail_open_;
  Envelope current_;
  std::optional<Envelope> before_rewrites_;
  Release release_;
  bool deliberate_ = false;
  std::optional<std::string> words_;  // of the guard that blocked
};

}  // namespace

std::string escalation_text(const std::string& guard, std::string message) {
  constexpr std::size_t kLongest = 4096;
  if (message.empty()) return "escalated by " + guard;
  return cut_utf8_bytes(message, kLongest);
}

Async<Release> run_pipeline(const Plan& plan, Envelope original, ResultContext context,
                            const Clock& clock, FailOpen& fail_open, std::stop_token cancel) {
  Fold fold(plan, fail_open, std::move(original));
  for (const std::shared_ptr<const ResultGuard>& guard : plan.result_guards()) {
    if (fold.blocked_deliberately()) {
      fold.not_reached(guard->traits());
      continue;
    }
    Judged judged = co_await judge(guard, fold.current(), context, clock, cancel);
    fold.take(guard->traits(), std::move(judged));
  }
  co_return fold.finish();
}

Async<ShortRelease> run_pipeline_short(const Plan& plan, Envelope original, ResultContext context,
                                       const Clock& clock, FailOpen& fail_open) {
  Release release =
      co_await run_pipeline(plan, std::move(original), std::move(context), clock, fail_open);
  co_return ShortRelease{.verdict = release.verdict,
                         .guard = std::move(release.guard),
                         .reason = std::move(release.reason),
                         .escalations = std::move(release.escalations),
                         .findings = std::move(release.findings),
                         .released = std::move(release.released)};
}

std::string_view Release::GuardState::state_word() const {
  return word_of(kGuardStates, state);
}

std::string_view Release::GuardState::verdict_word() const {
  return verdict ? word_of(kResultVerdicts, *verdict) : std::string_view();
}

template <class Out>
void write_members(Out& out, const Release& release) {
  if (release.asserted) out.put("asserted", release.asserted->to_json());
  if (release.advisory) out.put("enforcement", "advisory");
  out.array("escalation_ids", [&] {
    for (const std::string& id : release.escalation_ids) out.item(id);
  });
  out.array("escalations", [&] {
    for (const Escalation& escalation : release.escalations) out.item(escalation.message);
  });
  out.array("evidence", [&] {
    for (const Release::Evidence& item : release.evidence) {
      out.object([&] {
        if (!item.details.empty()) out.put("details", item.details);
        out.put("guard_name", item.guard);
        if (!item.rule.empty()) out.put("rule", item.rule);
        out.put("verdict", item.verdict);
      });
    }
  });
  if (release.failure) {
    out.object("failure", [&] {
      out.put("class", release.failure->failure_class);
      out.put("guard", release.failure->guard);
    });
  }
  if (!release.guard.empty()) out.put("guard", release.guard);
  out.array("hooks", [&] {
    for (const Release::GuardState& state : release.guards) {
      out.object([&] {
        if (state.state == Release::GuardState::State::Ran) {
          out.put("duration_us", state.duration_us);
        }
        out.put("guard", state.guard);
        out.put("state", state.state_word());
        if (state.verdict) out.put("verdict", state.verdict_word());
        if (!state.why.empty()) out.put("why", state.why);
      });
    }
  });
  if (release.keeps_original()) {
    out.object("original", [&] { write_members(out, release.original); });
  }
  out.object("released", [&] { write_members(out, release.released); });
  out.put("sanitized", release.verdict == Verdict::Kind::Rewrite);
  out.put("verdict", word_of(kResultVerdicts, verdict_of(release.verdict)));
}
template void write_members(CanonicalWriter& out, const Release& release);

bool Release::keeps_original() const {
  return verdict == Verdict::Kind::Rewrite || verdict == Verdict::Kind::Deny ||
         original.malformed_bytes.has_value();
}

json::object Release::to_json() const {
  return object_of(*this);
}

}  // namespace sallyport::core
