#include "core/handoff/hand_offs.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/handoff/model_calls.h"
#include "core/handoff/pending_call.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

namespace {

// A handed-out call has no upstream here, and nothing may invoke this one.
class Elsewhere final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::Internal, "this call is executed elsewhere");
  }
};

}  // namespace

struct HandOffs::Deciding {
  Continuation::Payload frame;
  std::string id;  // of the continuation
  Kept kept;
  // True: the only call, stored with its intent. A listener may still stop a call whose intent is
  // written: then a separate commit stores it.
  bool alone = false;
  HandedOut handed_out{};
};

void HandOffs::add_proposed(Draft& draft, const Call& call,
                            const Continuation::Payload& frame) const {
  if (frame.state != proposed_to(call.agent_id)) return;
  GovernorParts& parts = stages_.parts;
  draft.changes.push_back(model_calls::add(call,
                                           {.call_id = call.call_id, .session_id = call.session_id},
                                           parts.recorder, parts.clock.wall()));
}

Draft HandOffs::keep_alone(Continuation::Payload frame, const Trail& trail, Kept& kept) const {
  frame.pending_tool_calls = {pending_call(trail)};
  kept.continuation = continuations_.make(std::move(frame), trail.continuation_id);
  kept.calls = {trail.call()};
  kept.grants.clear();
  if (trail.grant) kept.grants[trail.call().call_id] = trail.grant;
  Draft draft = continuations_.keep(
      kept, Subject{.session_id = trail.call().session_id, .agent_id = trail.call().agent_id});
  add_proposed(draft, trail.call(), kept.continuation.payload);
  return draft;
}

Task<HandOffs::HandedOut> HandOffs::hand_out(Continuation::Payload frame, std::vector<Call> calls,
                                             Caller caller, std::chrono::seconds within) {
  SALLYPORT_CO_CHECK_OK(co_await expire());
  Deciding deciding{.frame = std::move(frame),
                    .id = continuations_.fresh_id(),
                    .kept = {.deadline = rfc3339(stages_.parts.clock.wall() + within)},
                    .alone = calls.size() == 1 && !stages_.emitter.has_hooks()};
  for (Call& asked : calls) {
    asked.session_id = deciding.frame.session_id;
    asked.turn = deciding.frame.turn;
    SALLYPORT_CO_CHECK_OK(governor_.accept(asked));
    Trail trail = governor_.trail_of(std::move(asked));
    SALLYPORT_CO_TRY(const bool kept, co_await hand_out_one(deciding, trail, caller));
    if (kept) co_return std::move(deciding.handed_out);
  }
  co_return co_await keep(deciding);
}

Task<HandOffs::HandedOut> HandOffs::hand_out_answered(Continuation::Payload frame,
                                                      Governor::Resumption waited, Caller caller,
                                                      std::chrono::seconds within) {
  SALLYPORT_CO_CHECK_OK(co_await expire());
  Deciding deciding{.frame = std::move(frame),
                    .id = continuations_.fresh_id(),
                    .kept = {.deadline = rfc3339(stages_.parts.clock.wall() + within)},
                    .alone = !stages_.emitter.has_hooks()};
  Elsewhere elsewhere;
  SALLYPORT_CO_TRY(Trail trail, co_await governor_.reopen(std::move(waited), elsewhere));
  SALLYPORT_CO_TRY(const bool kept, co_await hand_out_one(deciding, trail, caller));
  if (kept) co_return std::move(deciding.handed_out);
  co_return co_await keep(deciding);
}

Task<bool> HandOffs::hand_out_one(Deciding& deciding, Trail& trail, const Caller& caller) {
  trail.handed_out_until = deciding.kept.deadline;
  trail.continuation_id = deciding.id;
  if (deciding.alone) {
    trail.with_intent = [this, &deciding](const Trail& decided) {
      return keep_alone(deciding.frame, decided, deciding.kept);
    };
  }
  SALLYPORT_CO_TRY(std::optional<Answer> answered,
                   co_await governor_.admit(trail, std::make_shared<Elsewhere>(), caller));
  if (answered) {
    SALLYPORT_CO_TRY(const std::optional<HandedOut::Clash> clash, clash_of(trail));
    if (clash) deciding.handed_out.clashes[trail.call().tool_call_id] = *clash;
    deciding.handed_out.answered.push_back(std::move(*answered));
    co_return false;
  }
  deciding.handed_out.hand_off.tool_calls.push_back(pending_call(trail));
  if (deciding.alone) {
    deciding.handed_out.hand_off.continuation = deciding.kept.continuation;
    co_return true;
  }
  deciding.kept.calls.push_back(trail.call());
  if (trail.grant) deciding.kept.grants[trail.call().call_id] = trail.grant;
  co_return false;
}

Task<HandOffs::HandedOut> HandOffs::keep(Deciding& deciding) {
  Kept& kept = deciding.kept;
  if (deciding.handed_out.hand_off.tool_calls.empty()) co_return std::move(deciding.handed_out);
  deciding.frame.pending_tool_calls = deciding.handed_out.hand_off.tool_calls;
  kept.continuation = continuations_.make(std::move(deciding.frame), deciding.id);
  deciding.handed_out.hand_off.continuation = kept.continuation;
  const Continuation::Payload& payload = kept.continuation.payload;
  Draft draft = continuations_.keep(
      kept, Subject{.session_id = payload.session_id, .agent_id = kept.calls.front().agent_id});
  for (const Call& call : kept.calls) add_proposed(draft, call, payload);
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  SALLYPORT_CO_CHECK_OK(
      co_await stages_.parts.recorder.append(std::move(drafts), Urgency::Announces));
  co_return std::move(deciding.handed_out);
}

Result<std::optional<HandOffs::HandedOut::Clash>> HandOffs::clash_of(const Trail& trail) {
  if (!trail.refusal() || trail.refusal()->by != Refusal::By::Idempotency) return std::nullopt;
  const std::optional<Idempotency::Row>& row = trail.row;
  const bool same = row && row->status == Idempotency::Status::InFlight &&
                    row->request_digest == trail.request_digest();
  if (!same) return HandedOut::Clash::Taken;
  SALLYPORT_TRY(const bool running, stages_.idempotency.running(*row));
  return running ? HandedOut::Clash::Out : HandedOut::Clash::Taken;
}

Result<std::optional<Continuation>> HandOffs::hand_off_of(const std::string& session_id,
                                                          const std::string& tool_call_id) {
  Recorder& recorder = stages_.parts.recorder;
  Idempotency& rows = stages_.idempotency;
  const Call named{.tool_call_id = tool_call_id, .session_id = session_id};
  SALLYPORT_TRY(const std::optional<Idempotency::Row> row, rows.row(rows.key(named)));
  if (!row) return std::nullopt;
  SALLYPORT_TRY(const auto handed_out, recorder.fact(kHandedOut, row->call_id));
  const std::optional<Placed> placed = handed_out ? split_place(*handed_out) : std::nullopt;
  if (!placed) return std::nullopt;
  SALLYPORT_TRY(const json::object intent, recorder.entry(placed->sequence));
  const json::object* const body = object_in(intent, "body");
  const std::string id = body ? text_or_empty(*body, "continuation_id") : "";
  SALLYPORT_TRY(std::optional<Continuations::Found> found, continuations_.load(id));
  if (found && !found->kept.calls.empty()) return std::move(found->kept.continuation);
  return std::nullopt;
}

json::object HandOffs::proposed_to(const std::string& agent_id) {
  return {{"door", "model"}, {"agent_id", agent_id}};
}

Result<std::optional<PendingCall>> HandOffs::proposed_call(const Call& call) {
  if (call.tool_call_id.empty()) return std::nullopt;
  SALLYPORT_TRY(const std::optional<Continuation> out,
                hand_off_of(call.session_id, call.tool_call_id));
  if (!out || out->payload.state != proposed_to(call.agent_id)) return std::nullopt;
  for (const PendingCall& pending : out->payload.pending_tool_calls) {
    const bool same = pending.id == call.tool_call_id && pending.name == call.tool &&
                      (pending.input == call.input || pending.effective_input == call.input);
    if (same) return pending;
  }
  return std::nullopt;
}

}  // namespace sallyport::core
