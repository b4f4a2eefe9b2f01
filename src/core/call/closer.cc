#include "core/call/closer.h"

#include <boost/json.hpp>

#include "base/cut_text.h"
#include "core/result/not_run.h"

namespace sallyport::core {

namespace {

// The rule of the policy that refused. Else the rule of the guard that refused, or its name. Empty:
// neither refused.
std::string refusing_rule(const Trail& trail) {
  const bool rules = trail.rules && trail.rules->verdict == RuleAnswer::Verdict::Refused &&
                     trail.refusal() && trail.refusal()->by == Refusal::By::Plan &&
                     trail.refusal()->reason == trail.rules->text;
  if (rules) return trail.rules->rule;
  for (const GuardRun& run : trail.guard_runs()) {
    if (run.verdict == GuardVerdict::Deny || run.verdict == GuardVerdict::Error)
      return run.rule.value_or(run.guard);
  }
  return {};
}

std::string notice(const Refusal& refusal) {
  if (refusal.by == Refusal::By::Hook) return "Blocked by pre-execution hook: " + refusal.reason;
  // The text of a rule has this already (RU-71).
  if (refusal.reason.starts_with("Blocked by rule `")) return refusal.reason;
  return "Blocked: " + refusal.reason;
}

bool withheld(const Ending& ending) {
  return ending.release && ending.release->verdict == Verdict::Kind::Deny;
}

// True if a call that ran succeeded.
bool succeeded(const Ending& ending) {
  return ending.effect != EffectState::Unknown && ending.outcome.result &&
         ending.outcome.result->success;
}

// No value: neither a tier nor a person was involved (AT-31).
std::optional<Enforcement> enforcement_of(const Trail& trail, const Ending& ending) {
  if (!trail.weighed) return std::nullopt;
  // An asserted result of a call that was never decided here earns no trust and costs none.
  const auto* const asserted = ending.release ? &ending.release->asserted : nullptr;
  if (asserted != nullptr && *asserted && !(*asserted)->counts()) return std::nullopt;
  if (trail.announced) return trail.consent ? Enforcement::ApprovalGranted : Enforcement::Auto;
  if (!trail.refusal()) return std::nullopt;
  if (trail.is_shadow()) return Enforcement::ShadowNoop;
  if (trail.approval_id.empty()) return std::nullopt;
  switch (trail.refusal()->by) {
    case Refusal::By::Cancel:
      return Enforcement::ApprovalCancelled;
    case Refusal::By::Expiry:
      return Enforcement::ApprovalTimeout;
    case Refusal::By::Person:
      return Enforcement::ApprovalDenied;
    default:
      return Enforcement::ApprovalInvalidated;
  }
}

}  // namespace

std::string output_preview(const Redactor& redactor, const std::string& output) {
  constexpr std::size_t kLooked = 16 * 1024;
  return plain_text(redactor, cut_utf8_bytes(output, kLooked));
}

// The answer once it is recorded. It then gets the result that the second door released.
Answer Closer::answer_of(const Trail& trail, const Ending& ending) const {
  Answer answer{.call_id = trail.call().call_id,
                .outcome = ending.outcome,
                .effect = ending.effect,
                .approval_id = trail.approval_id};
  if (ending.release) {
    answer.result = *ending.outcome.result;
  } else if (trail.is_shadow()) {
    answer.result = not_run(trail, NotRun::Skipped);
    answer.released = Envelope::of(answer.result.data);
  } else {
    const std::string text = trail.refusal() ? notice(*trail.refusal()) : ending.outcome.text;
    answer.released = Envelope::error(shown(text));
    answer.result = answer.released.to_result();
    answer.rule = refusing_rule(trail);
    const bool by_rule = trail.rules && !answer.rule.empty() && answer.rule == trail.rules->rule;
    answer.message = by_rule ? shown(trail.rules->message) : answer.result.output;
  }
  return answer;
}

Task<Answer> Closer::finish(Trail& trail, Ending ending) {
  Answer answer = answer_of(trail, ending);
  ending.memory = memory_of(trail, ending);
  ending.events = closing_events(trail, ending, answer.result);
  const bool releases = ending.release.has_value();
  const bool ran = trail.announced && ending.effect != EffectState::None;
  const Result<Journal::Ended> ended = co_await journal_.end(trail, ending);
  if (!ended) {
    const bool still_waits = !trail.closing_expected.empty();
    if (releases || still_waits || ended.error().code == ErrorCode::Conflict) {
      Error error = ended.error();
      if (ran) error.where = kOutcome;
      co_return std::unexpected(std::move(error));
    }
    // A refusal stays a refusal, also if it could not be recorded yet.
    answer.outcome = Outcome::persistence_failed(ended.error().message);
    co_return answer;
  }
  if (ending.release) answer.released = std::move(ending.release->released);
  answer.sequence = ended->record.sequence;
  answer.record_id = ended->record.id;
  if (trail.consent) approvals_.ring(trail.consent->approval_id);
  for (std::size_t i = 0; i < ending.events.size(); ++i) {
    (void)co_await events_.notify(trail, ending.events[i], ended->events.at(i).sequence);
  }
  co_await sinks_.notify_sinks(trail, ended->record.sequence);
  co_return answer;
}

Task<std::vector<Position>> Closer::close(std::vector<Left> calls, std::vector<Fact> expected) {
  Batch batch;
  std::vector<EndPlaces> places;
  for (Left& call : calls) {
    for (Draft& draft : call.fail_open.drafts) {
      draft.subject.set(&Subject::policy_hash, call.record.subject->policy_hash);
      batch.add(std::move(draft));
    }
    for (Fact& fact : call.fail_open.facts) call.record.facts.push_back(std::move(fact));
    places.push_back(journal_.complete(call.record, call.ending, batch));
  }
  Result<std::vector<Position>> positions = co_await parts_.recorder.append(
      std::move(batch).take(), Urgency::Reports, std::move(expected));
  if (!positions) co_return std::unexpected(positions.error());
  const Written written(std::move(*positions));
  std::vector<Draft> failed;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::vector<Event>& events = calls[i].ending.events;
    for (std::size_t k = 0; k < events.size(); ++k) {
      (void)co_await emitter_.notify(events[k], calls[i].record.subject, failed,
                                     written[places[i].events[k]].sequence);
    }
  }
  std::vector<Position> records;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    records.push_back(written[places[i].record]);
    co_await sinks_.give_to_sinks(records.back().sequence, calls[i].record.subject, failed);
  }
  co_await sinks_.note_failures(std::move(failed));
  co_return records;
}

std::vector<Event> Closer::closing_events(const Trail& trail, const Ending& ending,
                                          const ToolResult& result) const {
  std::vector<Event> events;
  if (!trail.announced) return events;
  const Call& call = trail.call();
  if (withheld(ending)) {
    events.push_back(event::PolicyDenied{call.agent_id, call.tool, ending.release->reason});
  }
  event::ToolExecutionFinished finished{
      .agent_id = call.agent_id,
      .tool_name = call.tool,
      .tool_call_id = call.tool_call_id,
      .is_error = !result.success,
      .output_preview = output_preview(parts_.redactor, result.output)};
  if (!result.success) finished.error = finished.output_preview;
  events.push_back(std::move(finished));
  return events;
}

std::optional<Draft> Closer::memory_of(const Trail& trail, const Ending& ending) const {
  if (!trail.replay_of.empty()) return std::nullopt;  // nothing was done
  const auto& rules = trail.plan().autonomy_rules();
  const std::optional<Enforcement> enforced = rules ? enforcement_of(trail, ending) : std::nullopt;
  if (!enforced) return std::nullopt;
  Remembered ended{.call = trail.call(),
                   .classification = trail.classification(),
                   .tier = trail.autonomy,
                   .enforcement = *enforced,
                   .succeeded = succeeded(ending),
                   .approval_id = trail.approval_id};
  if (trail.consent) add_consent(ended, *trail.consent);
  return rules->remember(ended, parts_.clock.wall());
}

void add_consent(Remembered& ended, const Consent& consent) {
  ended.approver = consent.by;
  ended.approved_at = consent.at;
  ended.answer_sequence = consent.sequence;
  for (const Vote& vote : consent.votes) {
    ended.answers.push_back({vote.by, vote.at, vote.proof()});
  }
}

}  // namespace sallyport::core
