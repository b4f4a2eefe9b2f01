#include "core/call/governor.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/cut_text.h"
#include "base/exact_numbers.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/call/call_check.h"
#include "core/call/not_run.h"
#include "core/call/waiting_facts.h"
#include "core/record/plain_text.h"

namespace sallyport::core {

namespace {

// Of a call that presented no token.
const auto kNoGrants = std::make_shared<const Scope>();

// Returns the fact that a call waits: for a caller that resumes it, or for a process that is gone.
Result<std::optional<Fact>> fact_of_waiting(Recorder& recorder, const std::string& call_id,
                                            const std::string& approval_id) {
  SALLYPORT_TRY(const auto waits, recorder.fact(kWaitingCall, call_id));
  if (waits == approval_id) return Fact{std::string(kWaitingCall), call_id, waits};
  SALLYPORT_TRY(const auto held, recorder.fact(kHeldCall, call_id));
  const std::optional<Placed> placed = held ? split_place(*held) : std::nullopt;
  const std::string begin = approval_id + " ";
  if (!placed || !placed->value.starts_with(begin)) return std::nullopt;
  if (core::held(recorder, placed->value.substr(begin.size()))) return std::nullopt;
  return Fact{std::string(kHeldCall), call_id, held};
}

// The rule of the policy that refused, or the guard that said no: its rule, else its own name.
// Empty where none did.
std::string refusing_rule(const Trail& trail) {
  const bool rules = trail.rules && trail.rules->verdict == RuleAnswer::Verdict::Refused &&
                     trail.refusal() && trail.refusal()->by == Refusal::By::Plan &&
                     trail.refusal()->reason == trail.rules->text;
  if (rules) return trail.rules->rule;
  for (const GuardRun& run : trail.guard_runs) {
    if (run.verdict == "deny" || run.verdict == "error") return run.rule.value_or(run.guard);
  }
  return {};
}

// PI-48: only where the content has a place for it.
void add_redaction_notice(Envelope& envelope) {
  constexpr std::string_view kNotice = "[redacted by policy]";
  if (envelope.value.is_string()) {
    envelope.value = std::string(envelope.value.get_string()) + "\n" + std::string(kNotice);
  } else if (json::object* const object = envelope.value.if_object()) {
    json::value* const content = object->if_contains("content");
    if (content != nullptr && content->is_array()) {
      content->get_array().push_back(json::object{{"type", "text"}, {"text", kNotice}});
    }
  }
}

Ending refused(const Refusal& refusal) {
  return {.outcome = refusal.by == Refusal::By::Preparation ? Outcome::invalidated(refusal.reason)
                                                            : Outcome::blocked(refusal.reason)};
}

std::string notice(const Refusal& refusal) {
  if (refusal.by == Refusal::By::Hook) return "Blocked by pre-execution hook: " + refusal.reason;
  // A rule says so itself (RU-71).
  if (refusal.reason.starts_with("Blocked by rule `")) return refusal.reason;
  return "Blocked: " + refusal.reason;
}

bool withheld(const Ending& ending) {
  return ending.release && ending.release->verdict == Verdict::Kind::Deny;
}

// A caller that came second, or left, does not invalidate the yes; another caller may use it.
bool voids_consent(const Refusal& refusal) {
  return refusal.by != Refusal::By::Idempotency && refusal.by != Refusal::By::Cancel;
}

}  // namespace

Governor::Governor(Parts parts)
    : parts_(std::move(parts)),
      emitter_(
          {parts_.recorder, parts_.redactor, parts_.clock, std::move(parts_.hooks), &parts_.plans}),
      escalations_(parts_.recorder, parts_.clock, parts_.entropy),
      approvals_(parts_.recorder, parts_.clock, parts_.redactor,
                 [&plans = parts_.plans] {
                   const std::shared_ptr<const Plan> plan = plans.current();
                   return std::shared_ptr<const ApprovalRules>(plan, &plan->approvals());
                 }),
      idempotency_(parts_.recorder, parts_.digest),
      journal_({parts_.recorder, parts_.clock, parts_.entropy, escalations_, parts_.redactor,
                parts_.digest}),
      fail_open_(parts_.recorder.instance_id(), parts_.log) {}

Task<void> Governor::tidy() {
  SALLYPORT_CO_CHECK_OK(co_await reverse_lost_holds());
  SALLYPORT_CO_CHECK_OK(co_await approvals_.expire_all());
  co_return co_await close_lost_calls();
}

Task<void> Governor::start() {
  SALLYPORT_CO_CHECK_OK(co_await tidy());
  SALLYPORT_CO_CHECK_OK(co_await tell_unheard());
  Event prepared = event::RecoveryPrepared{parts_.recorder.instance_id()};
  co_return co_await emitter_.emit(std::move(prepared), {});
}

// Releases the budgets of calls whose waiting process is gone. A call that any process may resume
// keeps its budget (CG-55).
Task<void> Governor::reverse_lost_holds() {
  SALLYPORT_CO_TRY(const std::vector<budgets::Held> all, budgets::all_held(parts_.recorder));
  for (const budgets::Held& held : all) {
    if (parts_.recorder.alive(held.instance_id)) continue;
    SALLYPORT_CO_TRY(const auto waits, parts_.recorder.fact(kWaitingCall, held.fact.key));
    if (waits) continue;
    std::vector<Draft> drafts;
    drafts.push_back({.kind = Kind::Grant,
                      .subject = {.call_id = held.fact.key},
                      .body = {{"record", "hold_reversed"},
                               {"instance_id", held.instance_id},
                               {"why", "the process that held it ended"}},
                      .changes = {budgets::reverse(held.fact.key)}});
    const auto written =
        co_await parts_.recorder.append(std::move(drafts), Urgency::Reports, {held.fact});
    // Another process that starts was quicker.
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
  }
  co_return Result<void>{};
}

Task<Answer> Governor::run(Call asked, std::shared_ptr<Upstream> upstream, Caller caller) {
  SALLYPORT_CO_TRY(Call call, accept(std::move(asked)));
  Trail trail(std::move(call), parts_.plans.current(), parts_.digest, fail_open_);  // classified
  co_return co_await govern(trail, std::move(upstream), std::move(caller));
}

Task<Answer> Governor::govern(Trail& trail, std::shared_ptr<Upstream> upstream, Caller caller) {
  Result<std::optional<Answer>> ended = co_await admit(trail, upstream, caller);
  if (!ended) {
    drop_preparation(trail, *upstream);
    co_return std::unexpected(ended.error());
  }
  if (*ended) co_return std::move(**ended);
  co_return co_await conduct(trail, std::move(upstream), caller);
}

Task<Answer> Governor::conduct(Trail& trail, std::shared_ptr<Upstream> upstream,
                               const Caller& caller) {
  Performed performed = co_await perform(trail, upstream, caller);  // errors fold in
  Ending ending =
      co_await release(trail, std::move(performed), *upstream, caller.cancel);  // the second door
  co_return co_await finish(trail, std::move(ending));  // on record, then out
}

Task<std::optional<Answer>> Governor::admit(Trail& trail, std::shared_ptr<Upstream> upstream,
                                            const Caller& caller) {
  std::optional<Performed> recalled;
  do {
    co_await authorize(trail, upstream, caller.cancel);  // grants, guards, hooks, autonomy
    while (trail.needs_person) {
      SALLYPORT_CO_TRY(const bool answered, co_await ask(trail, caller));  // durable, then held
      if (!answered) co_return waiting(trail);
      co_await authorize(trail, upstream, caller.cancel);  // decided again, by the plan of now
    }
    if (trail.open()) {
      SALLYPORT_CO_TRY(recalled, co_await announce(trail));  // made before? no record, no effect
    }
  } while (std::exchange(trail.weighs_again, false));  // others took the last place of the budget
  if (trail.open() && !recalled) co_return std::nullopt;
  SALLYPORT_CO_TRY(Answer answer,
                   co_await end_unrun(trail, std::move(recalled), *upstream, caller.cancel));
  co_return answer;
}

Task<Answer> Governor::end_unrun(Trail& trail, std::optional<Performed> recalled,
                                 Upstream& upstream, std::stop_token cancel) {
  drop_preparation(trail, upstream);
  if (recalled) {
    Ending ending = co_await release(trail, std::move(*recalled), upstream, std::move(cancel));
    co_return co_await finish(trail, std::move(ending));
  }
  if (trail.consent && !trail.announced && voids_consent(*trail.refusal())) {
    // The yes was for a call that may not run after all (AP-9). Where that cannot be written, it
    // goes unused until its time is over.
    (void)co_await approvals_.invalidate(trail.consent->approval_id, trail.refusal()->reason);
  }
  co_await pass_tool_text(trail, std::move(cancel));
  Ending ending = refused(*trail.refusal());
  co_return co_await finish(trail, std::move(ending));
}

Task<Answer> Governor::resume(Resumption waited, std::shared_ptr<Upstream> upstream,
                              Caller caller) {
  SALLYPORT_CO_CHECK_OK(check_call(waited.call));
  if (!waited.observed) {
    SALLYPORT_CO_CHECK_OK(co_await approvals_.disown_forged(waited.approval_id));
  }
  SALLYPORT_CO_TRY(const auto state, approvals_.state(waited.approval_id));
  SALLYPORT_CO_TRY(const std::optional<Fact> waits,
                   fact_of_waiting(parts_.recorder, waited.call.call_id, waited.approval_id));
  // A call that was held may have attached to the question about another one (AP-36).
  const bool attached = waits && waits->space == kHeldCall;
  if (!state || (state->call_id != waited.call.call_id && !attached)) {
    co_return fail(ErrorCode::Conflict,
                   fmt::format("approval `{}` is not about this call", waited.approval_id), {},
                   "tool_call_mismatch");
  }
  if (state->word == "pending") {
    co_return fail(ErrorCode::Conflict, "no person has answered yet", {}, "approval_pending");
  }
  if (!waits) {
    co_return fail(ErrorCode::Conflict, "the call does not wait any more", {}, "already_resumed");
  }
  SALLYPORT_CO_TRY(const Reply reply, approvals_.reply_of(*state));
  Trail trail(std::move(waited.call), parts_.plans.current(), parts_.digest, fail_open_);
  if (waited.prepared && upstream->preparing() != nullptr) {
    trail.prepared(std::move(*waited.prepared), upstream->preparing()->outlives_process());
    trail.opened = trail.recovery_class() != RecoveryClass::Resumable;
  }
  trail.approval_id = waited.approval_id;
  trail.observed = waited.observed;
  trail.closing_facts = std::move(waited.closing);
  trail.closing_facts.push_back({waits->space, waits->key, std::nullopt});
  trail.closing_expected.push_back(*waits);
  take_reply(trail, reply, state->call_digest);
  co_return co_await govern(trail, std::move(upstream), std::move(caller));
}

Result<Call> Governor::identify(Call call) const {
  SALLYPORT_CHECK_OK(check_call(call));
  if (!call.raw_input && !numbers_are_exact(call.input))
    call.raw_input = json::serialize(call.input);
  call.call_id = uuid7_text(parts_.clock, parts_.entropy);
  if (call.tool_call_id.empty()) call.tool_call_id = call.call_id;
  if (call.trace_id.empty()) call.trace_id = "trace-" + uuid7_text(parts_.clock, parts_.entropy);
  if (call.agent_id.empty()) call.agent_id = "runtime";
  if (call.provenance.provider.empty()) call.provenance.provider = "unknown";
  if (call.provenance.model.empty()) call.provenance.model = "unknown";
  return call;
}

Result<Call> Governor::accept(Call asked) {
  SALLYPORT_TRY(Call call, identify(std::move(asked)));
  SALLYPORT_CHECK_OK(parts_.recorder.accept_call());
  return call;
}

// What a tool said while it prepared is seen by the agent too, and so passes the second door.
Async<void> Governor::pass_tool_text(Trail& trail, std::stop_token cancel) {
  const Refusal& refusal = *trail.refusal();
  if (refusal.by != Refusal::By::Preparation && refusal.by != Refusal::By::Tool) co_return;
  ResultContext context = context_of(trail);
  context.is_error = true;
  Release release =
      co_await run_pipeline(trail.plan(), Envelope::error(refusal.reason), std::move(context),
                            parts_.clock, trail.fail_open, std::move(cancel));
  trail.note(std::move(release.findings));
  trail.reword(release.released.message);
}

// The pipeline, and its words as people and agents may see them.
Async<Release> Governor::look_at(const Plan& plan, Envelope envelope, ResultContext context,
                                 FailOpen& fail_open, std::stop_token cancel) {
  Release release = co_await run_pipeline(plan, std::move(envelope), std::move(context),
                                          parts_.clock, fail_open, std::move(cancel));
  if (release.verdict == Verdict::Kind::Deny) {
    release.released = Envelope::error(shown(release.released.message));
  } else if (release.verdict == Verdict::Kind::Rewrite && plan.redaction_notice()) {
    add_redaction_notice(release.released);
  }
  for (Escalation& escalation : release.escalations) {
    escalation.message = shown(std::move(escalation.message));
  }
  co_return release;
}

Async<Ending> Governor::release(Trail& trail, Performed performed, const Upstream& upstream,
                                std::stop_token cancel) {
  ResultContext context = context_of(trail);
  context.is_error = performed.envelope.kind == Envelope::Kind::Error;
  Release release = co_await look_at(trail.plan(), std::move(performed.envelope),
                                     std::move(context), trail.fail_open, std::move(cancel));
  release.advisory = !upstream.shows_release();
  release.asserted = upstream.assertion();
  // The effect of an assertion that does not count stays unknown.
  if (release.asserted && !release.asserted->counts()) performed.effect = EffectState::Unknown;
  if (performed.other_revision) {
    trail.note(std::move(release.findings));
    co_return Ending{.outcome = Outcome::invalidated(release.released.message)};
  }
  trail.repeated_redactions = std::move(performed.redactions);
  ToolResult result = upstream.result_of(release.released);
  result.duration_ms = performed.duration_ms;
  Outcome outcome = performed.recalled ? Outcome::cached(std::move(result))
                                       : Outcome::completed(std::move(result));
  co_return Ending{.outcome = std::move(outcome),
                   .effect = performed.recalled ? EffectState::None : performed.effect,
                   .release = std::move(release)};
}

// What may be shown of it once it is on record.
Answer Governor::answer_of(const Trail& trail, const Ending& ending) const {
  Answer answer{.call_id = trail.call().call_id,
                .outcome = ending.outcome,
                .effect = ending.effect,
                .approval_id = trail.approval_id};
  if (ending.release) {
    answer.released = ending.release->released;
    answer.result = *ending.outcome.result;
  } else if (trail.is_shadow()) {
    answer.result = not_run(trail, "skipped");
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

// Writes the record even if the caller has left. Then hooks, sinks and the caller are told.
Task<Answer> Governor::finish(Trail& trail, Ending ending) {
  Answer answer = answer_of(trail, ending);
  remember(trail, ending);
  const std::vector<Event> events = closing_events(trail, ending, answer.result);
  for (const Event& event : events) trail.rows.push_back(event);
  const bool ran = ending.release.has_value();
  const Result<Position> record = co_await journal_.end(trail, ending);
  if (!record) {
    const bool still_waits = !trail.closing_expected.empty();
    if (ran || still_waits || record.error().code == ErrorCode::Conflict) {
      co_return std::unexpected(record.error());
    }
    // A refusal stays one, also when it could not be recorded yet.
    answer.outcome = Outcome::persistence_failed(record.error().message);
    co_return answer;
  }
  answer.sequence = record->sequence;
  answer.record_id = record->id;
  if (trail.consent) approvals_.ring(trail.consent->approval_id);
  // They were the last rows in front of the record.
  std::uint64_t place = events.empty() ? 0 : *trail.last_row + 1 - events.size();
  for (const Event& event : events) (void)co_await tell(trail, event, place++);
  co_await tell_sinks(trail, record->sequence);
  co_return answer;
}

std::vector<Event> Governor::closing_events(const Trail& trail, const Ending& ending,
                                            const ToolResult& result) const {
  std::vector<Event> events;
  if (!trail.announced) return events;
  const Call& call = trail.call();
  if (withheld(ending)) {
    events.push_back(event::PolicyDenied{call.agent_id, call.tool, ending.release->reason});
  }
  // A cut could leave half of a secret standing: what is far behind it goes first, the rest after
  // redaction.
  constexpr std::size_t kLooked = 16 * 1024;
  const std::string text = shown(cut_utf8_bytes(result.output, kLooked));
  event::ToolExecutionFinished finished{.agent_id = call.agent_id,
                                        .tool_name = call.tool,
                                        .tool_call_id = call.tool_call_id,
                                        .is_error = !result.success,
                                        .output_preview = text};
  if (!result.success) finished.error = finished.output_preview;
  events.push_back(std::move(finished));
  return events;
}

ResultContext Governor::context_of(const Trail& trail) const {
  return {
      .tool = trail.call().tool,
      .call = std::make_shared<const Call>(trail.call()),
      .scope = trail.grant ? trail.grant->scope : kNoGrants,
      .effect_class = trail.classification().effect_class,
      .policy_hash = trail.plan().hash(),
      .matched_grant_index = trail.grant ? std::optional(trail.grant->index) : std::nullopt,
      .rules = trail.rules ? std::make_shared<const ResultRules>(trail.rules->results) : nullptr,
      .around = trail.plan().asks_outside() ? trail.surroundings() : nullptr};
}

std::string Governor::shown(std::string text) const {
  return plain_text(parts_.redactor, std::move(text));
}

}  // namespace sallyport::core
