#include "core/call/execution.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/race.h"
#include "base/try.h"
#include "core/approval/live_questions.h"
#include "core/call/asking.h"
#include "core/call/call_record.h"
#include "core/call/preparing.h"
#include "core/event/topic_event.h"
#include "core/handoff/waiting_facts.h"
#include "core/result/recordable.h"

namespace sallyport::core {

namespace {

constexpr unsigned kMostTries = 8;

// A separate coroutine, so that an abandoned call owns all it needs. `must_ask`: for a call without
// an intent on disk, for which `ready` was not checked yet (EV-62).
Async<Result<Envelope>> invoke(std::shared_ptr<Upstream> upstream, Call call,
                               std::shared_ptr<Delivery> delivery, std::stop_token stop,
                               const Recorder* must_ask) {
  if (const Result<void> ready = must_ask ? must_ask->ready() : Result<void>{}; !ready) {
    co_return fail(ErrorCode::Unavailable, "event sink failed: audit: " + ready.error().message, {},
                   kNotBegun);
  }
  co_return co_await upstream->invoke(std::move(call), std::move(delivery), std::move(stop));
}

std::unexpected<Error> already_resumed() {
  return fail(ErrorCode::Conflict, "the call does not wait any more", {}, "already_resumed");
}

// The caller may shorten the time limit of the plan, and never lengthen it.
std::chrono::milliseconds time_limit_of(const Trail& trail) {
  const std::chrono::milliseconds most = trail.plan().time_limit();
  return std::min(trail.call().time_limit.value_or(most), most);
}

bool intent_first(const Trail& trail) {
  if (trail.spending) return true;
  if (trail.grant && trail.grant->spending.limited()) return true;
  if (trail.consent || trail.prepared() || !trail.handed_out_until.empty()) return true;
  switch (trail.plan().durability()) {
    case IntentDurability::Strict:
      return true;
    case IntentDurability::Effect:
      return !trail.classification().replay_safe();
    case IntentDurability::Relaxed:
      break;
  }
  return false;
}

// The stored form of a result: the released envelope, redacted if it may not be stored.
std::optional<Envelope> stored_envelope(const json::object& body) {
  if (const json::object* const post = object_in(body, "post_invocation")) {
    const json::value* const released = post->if_contains("released");
    if (released != nullptr) {
      if (Result<Envelope> envelope = Envelope::from_json(*released)) return std::move(*envelope);
    }
  }
  const json::object* const outcome = object_in(body, "outcome");
  const json::value* const stored = outcome ? outcome->if_contains("result") : nullptr;
  if (stored == nullptr) return std::nullopt;
  const Result<ToolResult> result = tool_result_from_json(*stored);
  return result ? std::optional(envelope_of(*result)) : std::nullopt;
}

std::uint64_t stored_duration(const json::object& body) {
  const json::object* const outcome = object_in(body, "outcome");
  const json::object* const result = outcome ? object_in(*outcome, "result") : nullptr;
  return result ? number_in(*result, "duration_ms").value_or(0) : 0;
}

// Reports that a call with two approvals has run (LG-9). The payload is small, so it fits.
Draft dual_control_executed(const Trail& trail) {
  const Call& call = trail.call();
  Result<Draft> draft = topic_draft(
      {.topic = std::string(hitl::kDualControl),
       .kind = std::string(hitl::kDualControlExecuted),
       .payload = json::object{{"request_id", trail.consent->approval_id},
                               {"call_id", call.call_id},
                               {"trace_id", call.trace_id},
                               {"executed_at", trail.started_at}}},
      Governed{.agent = call.agent_id, .trace_id = call.trace_id, .autonomy_tier = trail.autonomy});
  SALLYPORT_INVARIANT(draft.has_value());
  draft->subject.set(&Subject::call_id, call.call_id);
  return std::move(*draft);
}

bool uses_dual_control(const Trail& trail) {
  return trail.consent && trail.needs_two();
}

}  // namespace

Task<std::optional<Performed>> Execution::announce(Trail& trail, std::stop_token cancel) {
  if (trail.consent) {
    // An approval expires (AP-19). If that cannot be written, it is checked below.
    (void)co_await approvals_.expire(trail.consent->approval_id);
  }
  for (unsigned tries = 0; trail.open() && !trail.announced; ++tries) {
    if (trail.consent) {
      SALLYPORT_CO_TRY(std::optional<Performed> same, co_await result_of_same(trail, cancel));
      if (same) co_return same;
    }
    SALLYPORT_CO_TRY(std::optional<Performed> recalled, look_for_earlier(trail));
    if (recalled) co_return recalled;
    if (trail.open() && tries == kMostTries) {
      trail.refuse({"in flight: the same call is made again and again", Refusal::By::Idempotency});
    }
    if (!trail.open()) break;
    const Result<void> written = co_await write_intent(trail);
    // Another process made the same call, or used the same approval, since we looked.
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
    if (trail.decides_again) co_return std::nullopt;
  }
  const Call& call = trail.call();
  if (!trail.open()) {
    co_await events_.report(trail,
                            event::ToolExecutionBlocked{call.agent_id, call.tool, call.tool_call_id,
                                                        trail.refusal()->reason});
    co_return std::nullopt;
  }
  const Result<void> notified = co_await events_.notify(
      trail, event::ToolExecutionStarted{call.agent_id, call.tool, call.tool_call_id});
  if (!notified) trail.refuse({notified.error().message, Refusal::By::Listener});
  co_return std::nullopt;
}

// Returns the stored answer of an earlier run of the call, or refuses the call. If it does neither,
// the call may run.
Result<std::optional<Performed>> Execution::look_for_earlier(Trail& trail) {
  // A resumed call belongs to this process only as long as it still waits.
  for (const Fact& waits : trail.closing_expected) {
    SALLYPORT_TRY(const auto stored, parts_.recorder.fact(waits.space, waits.key));
    if (stored != waits.value) return already_resumed();
  }
  if (trail.consent) {
    SALLYPORT_TRY(const auto state, approvals_.state(trail.consent->approval_id));
    const bool over = state && parts_.clock.wall() >= state->expires_at;
    if (!state || state->status != ApprovalStatus::Approved || over) {
      const bool late = state && (state->status == ApprovalStatus::Expired ||
                                  state->status == ApprovalStatus::Approved);
      trail.refuse(late ? Refusal{"approval_expired", Refusal::By::Expiry}
                        : Refusal{"approval_used", Refusal::By::Person});
      return std::nullopt;
    }
    trail.consent->state = *state;
  }
  trail.row_key = idempotency_.key(trail.call());
  if (trail.row_key.empty()) return std::nullopt;
  const std::string& id = trail.call().tool_call_id;
  if (!trail.claim) {
    SALLYPORT_TRY(trail.claim, idempotency_.claim(trail.row_key));
  }
  if (!trail.claim && !trail.closing_expected.empty()) return already_resumed();
  if (!trail.claim) {
    trail.refuse({fmt::format("in flight: call `{}` is running", id), Refusal::By::Idempotency});
    return std::nullopt;
  }
  SALLYPORT_TRY(trail.row, idempotency_.row(trail.row_key));
  if (!trail.row) return std::nullopt;
  if (trail.row->request_digest != trail.request_digest()) {
    trail.refuse(
        {fmt::format("idempotency conflict: `{}` was another call", id), Refusal::By::Idempotency});
    return std::nullopt;
  }
  if (trail.row->status == Idempotency::Status::Completed) {
    const Result<Performed> recalled = recall(*trail.row);
    if (recalled) return *recalled;
  } else if (trail.row->status == Idempotency::Status::InFlight) {
    SALLYPORT_TRY(const bool running, idempotency_.running(*trail.row));
    if (running) {
      trail.refuse({fmt::format("in flight: call `{}` is running", id), Refusal::By::Idempotency});
      return std::nullopt;
    }
  }
  // Only the prepared operation that was begun may be executed, never another one.
  const bool may_repeat =
      trail.recovery_class() == RecoveryClass::ReplaySafe ||
      (trail.recovery_class() == RecoveryClass::Resumable && trail.preparation_recalled);
  if (!may_repeat) {
    trail.refuse({fmt::format("unknown outcome: it is not known how `{}` ended, and it may not be "
                              "repeated by itself",
                              id),
                  Refusal::By::Idempotency});
  }
  return std::nullopt;
}

// The result of the call that used the same approval. No value: it is not known, or never will be.
Task<std::optional<Performed>> Execution::result_of_same(Trail& trail, std::stop_token cancel) {
  const std::string approval_id = trail.consent->approval_id;
  SALLYPORT_CO_TRY(const auto state, approvals_.state(approval_id));
  if (!state || state->status != ApprovalStatus::Used) co_return std::nullopt;
  SALLYPORT_CO_TRY(const json::object user, parts_.recorder.entry(state->sequence));
  const bool by_another =
      text_in(user, "kind") == "intent" && text_in(user, "call_id") != trail.call().call_id;
  if (!by_another) co_return std::nullopt;
  const std::string instance = text_or_empty(user, "instance_id");
  // If a host runs it, a later event ends it.
  SALLYPORT_CO_TRY(const auto handed_out,
                   parts_.recorder.fact(kHandedOut, text_or_empty(user, "call_id")));
  // Real time, like the time limit of the run.
  const auto until = std::chrono::steady_clock::now() + time_limit_of(trail);
  while (true) {
    SALLYPORT_CO_TRY(const auto stored, parts_.recorder.fact(kApprovalResult, approval_id));
    if (const auto placed = stored ? split_place(*stored) : std::nullopt) {
      Result<Performed> recalled = recall({.sequence = placed->sequence});
      if (recalled) co_return std::move(*recalled);
      co_return std::nullopt;
    }
    // A record that cannot be written now may not be written in time.
    const bool hopeless =
        handed_out || !parts_.recorder.alive(instance) || !parts_.recorder.ready();
    if (cancel.stop_requested()) trail.refuse({"cancelled", Refusal::By::Cancel});
    const bool over = !trail.open() || std::chrono::steady_clock::now() >= until;
    if (hopeless || over) co_return std::nullopt;
    co_await approvals_.pause(approval_id, cancel);
  }
}

Result<Performed> Execution::recall(const Idempotency::Row& row) {
  SALLYPORT_TRY(const json::object entry, parts_.recorder.entry(row.sequence));
  std::optional<Envelope> envelope = stored_envelope(entry.at("body").as_object());
  if (!envelope) return fail(ErrorCode::NotFound, "the stored result is gone");
  Performed recalled{
      .envelope = std::move(*envelope), .effect = EffectState::None, .recalled = true};
  recalled.duration_ms = stored_duration(entry.at("body").as_object());
  if (const json::value* const redactions = entry.if_contains("redactions")) {
    recalled.redactions = redactions->as_array();
  }
  return recalled;
}

// Adds the facts of an intent that is on disk before the effect. Returns the facts that its commit
// expects.
std::vector<Fact> Execution::add_intent_facts(const Trail& trail, Draft& intent) const {
  const Call& call = trail.call();
  std::vector<Fact> expected;
  if (trail.handed_out_until.empty()) {
    intent.facts.push_back(
        {std::string(kOpenCall), call.call_id, parts_.recorder.instance_id(), true});
  } else {
    intent.facts.push_back({std::string(kHandedOut), call.call_id, trail.handed_out_until, true});
  }
  if (!trail.row_key.empty()) {
    expected.push_back(Idempotency::expected(trail.row_key, trail.row));
    intent.facts.push_back(
        Idempotency::fact(trail.row_key, {.call_id = call.call_id,
                                          .request_digest = trail.request_digest(),
                                          .status = Idempotency::Status::InFlight,
                                          .started_at = trail.started_at}));
  }
  if (trail.consent) {
    Approvals::Change used =
        Approvals::change(trail.consent->approval_id, trail.consent->state, ApprovalStatus::Used);
    expected.push_back(std::move(used.expected));
    intent.facts.push_back(std::move(used.fact));
    live_questions::add_done(intent.facts, trail.consent->approval_id, ApprovalStatus::Used);
  }
  if (trail.prepared()) {
    std::optional<Fact> kept = kept_preparation(parts_.recorder, trail);
    if (kept) intent.facts.push_back(std::move(*kept));
  }
  if (trail.held) intent.facts.push_back({std::string(kHeldCall), call.call_id, std::nullopt});
  // An identical call after this one opens a new question (AP-37).
  if (trail.consent) {
    intent.facts.push_back({std::string(kAskedCall), asked_key(trail), std::nullopt});
  }
  for (const Fact& waits : trail.closing_expected) {
    expected.push_back(waits);
    intent.facts.push_back({waits.space, waits.key, std::nullopt});
  }
  return expected;
}

// `Conflict`: look again. Any other error: nothing ran, and a record of that is owed.
Task<void> Execution::write_intent(Trail& trail) {
  const Call& call = trail.call();
  Draft intent = journal_.intent(trail);
  if (trail.grant) {
    // At the time of the entry, so that the entries alone show what was charged when (WB-10).
    const WallTime now = from_rfc3339(trail.started_at).value_or(parts_.clock.wall());
    intent.changes.push_back(
        budgets::charge(trail.grant->spending, {call.call_id, parts_.recorder.instance_id()}, now));
  }
  if (trail.spending) intent.changes.push_back(trail.spending);
  const Event started = event::ToolExecutionStarted{call.agent_id, call.tool, call.tool_call_id};
  const bool first = intent_first(trail);
  if (first) {
    std::vector<Fact> expected = add_intent_facts(trail, intent);
    Batch batch;
    batch.add(std::move(intent));
    batch.add(event_row(started, trail.subject()));
    if (uses_dual_control(trail)) batch.add(dual_control_executed(trail));
    if (trail.with_intent) batch.add(trail.with_intent(trail));
    const auto written =
        co_await journal_.commit(trail, std::move(batch), Urgency::Announces, std::move(expected));
    if (!written) co_return intent_refused(trail, written.error());
    trail.closing_expected.clear();
  } else {
    trail.rows.push_back(std::move(intent));
    trail.rows.push_back(event_row(started, trail.subject()));
  }
  trail.opened = trail.opened || (first && trail.handed_out_until.empty());
  if (trail.consent) {
    trail.closing_facts.push_back(
        {std::string(kApprovalResult), trail.consent->approval_id, "", true});
  }
  trail.intent_durable = first;
  trail.announced = true;
  co_return Result<void>{};
}

Result<void> Execution::intent_refused(Trail& trail, const Error& error) {
  if (error.code == ErrorCode::InvalidInput) {
    // The ledger works, but this call does not fit into an entry.
    trail.forget_evidence();
    trail.refuse({"the call cannot be recorded: " + error.message});
    return {};
  }
  const bool no_place = error.code == ErrorCode::Exhausted && error.cause == kBudgetUsedUp;
  if (no_place && ++trail.lost_places > kMostTries) {
    trail.refuse({error.message, Refusal::By::Autonomy});
    return {};
  }
  if (no_place) {
    // Other calls used the budget first, so the tier has changed: decide again.
    trail.decide_again(trail.shared_plan());
    trail.decides_again = true;
    return {};
  }
  if (error.code == ErrorCode::Exhausted && !error.cause.empty()) {
    trail.refuse_spending(error);
    return {};
  }
  // A resumed call still waits and can be resumed again.
  if (error.code != ErrorCode::Conflict && trail.closing_expected.empty()) {
    journal_.owe(trail, {.outcome = Outcome::persistence_failed(
                             "the intent could not be recorded: " + error.message)});
  }
  return std::unexpected(error);
}

Async<Performed> Execution::perform(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    const Caller& caller) {
  if (caller.cancel.stop_requested()) {
    drop_preparation(trail, *upstream);
    co_return Performed{.envelope = Envelope::error("cancelled"), .effect = EffectState::None};
  }
  const auto limit = time_limit_of(trail);
  std::stop_source stop;
  const auto delivery = std::make_shared<Delivery>(Delivery::Parts{
      trail.shared_plan(), result_context(trail), parts_.clock, fail_open_, caller.progress});
  const SteadyTime begin = parts_.clock.steady();
  // Holds nothing of this call, which has ended by then.
  const auto late = [this, delivery, begin](Result<Envelope> given) {
    return note_late(delivery, begin, std::move(given));
  };
  Raced<Result<Envelope>> raced = co_await race<Result<Envelope>>(
      invoke(std::move(upstream), trail.call(), delivery, stop.get_token(),
             trail.intent_durable ? nullptr : &parts_.recorder),
      std::chrono::steady_clock::now() + limit, caller.cancel, late);
  delivery->close();
  trail.fail_open.absorb(delivery->fail_open().take());
  for (Escalation& escalation : delivery->take_escalations()) {
    trail.escalations.push_back(std::move(escalation));
  }
  trail.note(delivery->take_findings());
  for (Event& denied : delivery->take_denials()) co_await events_.report(trail, std::move(denied));
  if (raced.finish != Finish::Worked) stop.request_stop();
  Performed performed = fold(std::move(raced), *delivery, limit);
  performed.duration_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock.steady() - begin).count());
  co_return performed;
}

// Folds every outcome of an invocation into an envelope, the only form that passes the second door.
Performed Execution::fold(Raced<Result<Envelope>> raced, Delivery& delivery,
                          std::chrono::milliseconds limit) {
  Performed performed;
  const auto cut = [&](std::string text) {
    performed.envelope =
        delivery.has_chunks() ? delivery.cut(std::move(text)) : Envelope::error(std::move(text));
  };
  switch (raced.finish) {
    case Finish::Worked:
      if (*raced.value) {
        performed.effect = EffectState::Done;
        performed.envelope = std::move(**raced.value);
      } else if (raced.value->error().cause == "other_revision") {
        performed.effect = EffectState::None;
        performed.other_revision = true;
        performed.envelope = Envelope::error(raced.value->error().message);
      } else if (raced.value->error().cause == kNotBegun) {
        performed.effect = EffectState::None;
        performed.envelope = Envelope::error(raced.value->error().message);
      } else {
        cut("the tool gave no answer and may have acted: " + raced.value->error().message);
      }
      break;
    case Finish::Threw:
      cut("the tool failed");
      break;
    case Finish::Deadline:
      cut(fmt::format("timed out after {} ms", limit.count()));
      break;
    case Finish::Cancelled:
      cut("cancelled");
      break;
  }
  performed.envelope = recordable(std::move(performed.envelope));
  return performed;
}

// The call already has its last record (AU-34), so this is an entry beside it.
Async<void> Execution::note_late(std::shared_ptr<Delivery> delivery, SteadyTime begin,
                                 Result<Envelope> given) {
  if (!given) co_return;  // the record already says that there was no answer
  ResultContext context = delivery->context();
  context.is_error = given->kind == Envelope::Kind::Error;
  const std::shared_ptr<const Call> call = context.call;
  const std::string policy_hash = context.policy_hash;
  FailOpen fail_open(fail_open_);
  Release release = co_await second_door_.look_at(delivery->plan(), recordable(std::move(*given)),
                                                  std::move(context), fail_open);
  std::vector<Draft> drafts =
      journal_.late_result(*call, policy_hash, std::move(release), parts_.clock.steady() - begin);
  FailOpenLog::Share share = fail_open.take();
  for (Fact& fact : share.facts) drafts.back().facts.push_back(std::move(fact));
  drafts.insert(drafts.begin(), share.drafts.begin(), share.drafts.end());
  const auto written = co_await parts_.recorder.append(drafts, Urgency::Reports);
  if (!written && written.error().code != ErrorCode::InvalidInput) {
    parts_.recorder.owe(std::move(drafts));
  }
}

}  // namespace sallyport::core
