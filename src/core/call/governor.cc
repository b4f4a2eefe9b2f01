#include "core/call/governor.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/exact_numbers.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/call/call_check.h"
#include "core/call/preparing.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

namespace {

// The fact that a call waits: to be resumed, or in a process that is gone.
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

Ending refused(const Refusal& refusal) {
  return {.outcome = refusal.by == Refusal::By::Preparation ? Outcome::invalidated(refusal.reason)
                                                            : Outcome::blocked(refusal.reason)};
}

// A call that came second or was cancelled leaves the approval to the call that uses it.
bool voids_consent(const Refusal& refusal) {
  return refusal.by != Refusal::By::Idempotency && refusal.by != Refusal::By::Cancel;
}

}  // namespace

Task<void> Governor::tidy() {
  SALLYPORT_CO_CHECK_OK(co_await stages_.lost_calls.reverse_lost_reservations());
  SALLYPORT_CO_CHECK_OK(co_await stages_.approvals.expire_all());
  co_return co_await stages_.lost_calls.close_lost_calls();
}

Task<void> Governor::start() {
  SALLYPORT_CO_CHECK_OK(co_await tidy());
  SALLYPORT_CO_CHECK_OK(co_await stages_.sinks.deliver_late_records());
  Event prepared = event::RecoveryPrepared{stages_.parts.recorder.instance_id()};
  Result<void> announced = co_await stages_.emitter.emit(std::move(prepared), {});
  if (!announced) announced.error().cause = kStartRefused;
  co_return announced;
}

Task<void> Governor::deliver_late_records() {
  co_return co_await stages_.sinks.deliver_late_records();
}

Task<Answer> Governor::run(Call asked, std::shared_ptr<Upstream> upstream, Caller caller) {
  SALLYPORT_CO_CHECK_OK(accept(asked));
  Trail trail = trail_of(std::move(asked));  // classified
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
  // Errors of the tool fold into its envelope.
  Performed performed = co_await stages_.execution.perform(trail, upstream, caller);
  Ending ending =
      co_await stages_.second_door.release(trail, std::move(performed), *upstream, caller.cancel);
  // Records the answer, then returns it.
  co_return co_await stages_.closer.finish(trail, std::move(ending));
}

Task<std::optional<Answer>> Governor::admit(Trail& trail, std::shared_ptr<Upstream> upstream,
                                            const Caller& caller) {
  std::optional<Performed> recalled;
  do {
    // Grants, guards, hooks, rules, autonomy.
    co_await stages_.first_door.authorize(trail, upstream, caller.cancel);
    while (trail.needs_person) {
      // The question is durable before anyone is asked.
      SALLYPORT_CO_TRY(const bool answered, co_await stages_.asking.ask(trail, caller));
      if (!answered) co_return stages_.asking.waiting(trail);
      // Decides again, by the current plan.
      co_await stages_.first_door.authorize(trail, upstream, caller.cancel);
    }
    if (trail.open()) {
      // Finds an earlier run of the call, or writes the intent: no record, no effect.
      SALLYPORT_CO_TRY(recalled, co_await stages_.execution.announce(trail, caller.cancel));
    }
  } while (std::exchange(trail.decides_again, false));  // other calls used up the budget
  if (trail.open() && !recalled) co_return std::nullopt;
  SALLYPORT_CO_TRY(Answer answer,
                   co_await end_unrun(trail, std::move(recalled), *upstream, caller.cancel));
  co_return answer;
}

Task<Answer> Governor::end_unrun(Trail& trail, std::optional<Performed> recalled,
                                 Upstream& upstream, std::stop_token cancel) {
  drop_preparation(trail, upstream);
  if (recalled) {
    Ending ending = co_await stages_.second_door.release(trail, std::move(*recalled), upstream,
                                                         std::move(cancel));
    co_return co_await stages_.closer.finish(trail, std::move(ending));
  }
  if (trail.consent && !trail.announced && voids_consent(*trail.refusal())) {
    // The approved call may not run after all (AP-9). If that cannot be written, the approval
    // expires unused.
    (void)co_await stages_.approvals.invalidate(trail.consent->approval_id,
                                                trail.refusal()->reason);
  }
  co_await stages_.second_door.pass_tool_text(trail, std::move(cancel));
  Ending ending = refused(*trail.refusal());
  co_return co_await stages_.closer.finish(trail, std::move(ending));
}

Task<Trail> Governor::reopen(Resumption waited, Upstream& upstream) {
  SALLYPORT_CO_CHECK_OK(check_call(waited.call));
  if (!waited.observed) {
    SALLYPORT_CO_CHECK_OK(co_await stages_.approvals.disown_forged(waited.approval_id));
  }
  SALLYPORT_CO_TRY(const auto state, stages_.approvals.state(waited.approval_id));
  SALLYPORT_CO_TRY(
      const std::optional<Fact> waits,
      fact_of_waiting(stages_.parts.recorder, waited.call.call_id, waited.approval_id));
  // A call that was held may have attached to the question about another one (AP-36).
  const bool attached = waits && waits->space == kHeldCall;
  if (!state || (state->call_id != waited.call.call_id && !attached)) {
    co_return fail(ErrorCode::Conflict,
                   fmt::format("approval `{}` is not about this call", waited.approval_id), {},
                   "tool_call_mismatch");
  }
  if (state->status == ApprovalStatus::Pending) {
    co_return fail(ErrorCode::Conflict, "no person has answered yet", {}, "approval_pending");
  }
  if (!waits) {
    co_return fail(ErrorCode::Conflict, "the call does not wait any more", {}, "already_resumed");
  }
  SALLYPORT_CO_TRY(const Reply reply, stages_.approvals.reply_of(*state));
  Trail trail = trail_of(std::move(waited.call));
  if (waited.prepared && upstream.preparing() != nullptr) {
    trail.prepared(std::move(*waited.prepared), upstream.preparing()->outlives_process());
    trail.opened = trail.recovery_class() != RecoveryClass::Resumable;
  }
  trail.approval_id = waited.approval_id;
  trail.observed = waited.observed;
  trail.closing_facts = std::move(waited.closing);
  trail.closing_facts.push_back({waits->space, waits->key, std::nullopt});
  trail.closing_expected.push_back(*waits);
  stages_.asking.take_reply(trail, reply, state->call_digest);
  co_return trail;
}

Task<Answer> Governor::resume(Resumption waited, std::shared_ptr<Upstream> upstream,
                              Caller caller) {
  SALLYPORT_CO_TRY(Trail trail, co_await reopen(std::move(waited), *upstream));
  co_return co_await govern(trail, std::move(upstream), std::move(caller));
}

Result<void> Governor::identify(Call& call) const {
  SALLYPORT_CHECK_OK(check_call(call, stages_.parts.redactor));
  if (!call.raw_input && !numbers_are_exact(call.input))
    call.raw_input = json::serialize(call.input);
  call.call_id = uuid7_text(stages_.parts.clock, stages_.parts.entropy);
  if (call.tool_call_id.empty()) call.tool_call_id = call.call_id;
  if (call.trace_id.empty())
    call.trace_id = "trace-" + uuid7_text(stages_.parts.clock, stages_.parts.entropy);
  if (call.agent_id.empty()) call.agent_id = "runtime";
  if (call.provenance.provider.empty()) call.provenance.provider = "unknown";
  if (call.provenance.model.empty()) call.provenance.model = "unknown";
  return {};
}

Result<void> Governor::accept(Call& call) {
  SALLYPORT_CHECK_OK(identify(call));
  return stages_.parts.recorder.accept_call();
}

Trail Governor::trail_of(Call&& call) {
  return {std::move(call), stages_.parts.plans.current(), stages_.parts.digest, stages_.fail_open};
}

}  // namespace sallyport::core
