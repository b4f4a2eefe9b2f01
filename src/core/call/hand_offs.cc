#include "core/call/hand_offs.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/pending_call.h"
#include "core/call/waiting_facts.h"

namespace sallyport::core {

namespace {

// What is handed out has no upstream here: nothing of ours may call it.
class Elsewhere final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::Internal, "this call is executed elsewhere");
  }
};

}  // namespace

Draft HandOffs::keep_alone(Continuation::Payload frame, const Trail& trail, Kept& kept) const {
  frame.pending_tool_calls = {pending_call(trail)};
  kept.continuation = continuations_.make(std::move(frame), trail.continuation_id);
  kept.calls = {trail.call()};
  kept.grants.clear();
  if (trail.grant) kept.grants[trail.call().call_id] = trail.grant;
  return continuations_.keep(
      kept, {.session_id = trail.call().session_id, .agent_id = trail.call().agent_id});
}

Task<HandOffs::Given> HandOffs::hand_out(Continuation::Payload frame, std::vector<Call> calls,
                                         Caller caller, std::chrono::seconds within) {
  SALLYPORT_CO_CHECK_OK(co_await expire());
  GovernorParts& parts = stages_.parts;
  const std::string deadline = rfc3339(parts.clock.wall() + within);
  const auto elsewhere = std::make_shared<Elsewhere>();
  const std::string id = continuations_.fresh_id();
  Given given;
  Kept kept{.deadline = deadline};
  // A listener may still stop a call whose intent is written: then it is kept by a commit of its
  // own.
  const bool alone = calls.size() == 1 && !stages_.emitter.has_hooks();
  for (Call& asked : calls) {
    asked.session_id = frame.session_id;
    asked.turn = frame.turn;
    SALLYPORT_CO_TRY(Call call, governor_.accept(std::move(asked)));
    Trail trail = governor_.trail_of(std::move(call));
    trail.handed_out_until = deadline;
    trail.continuation_id = id;
    if (alone) {
      trail.with_intent = [&](const Trail& decided) { return keep_alone(frame, decided, kept); };
    }
    SALLYPORT_CO_TRY(std::optional<Answer> answered,
                     co_await governor_.admit(trail, elsewhere, caller));
    if (answered) {
      SALLYPORT_CO_TRY(const std::optional<Given::Clash> clash, clash_of(trail));
      if (clash) given.clashes[trail.call().tool_call_id] = *clash;
      given.answered.push_back(std::move(*answered));
      continue;
    }
    given.hand_off.tool_calls.push_back(pending_call(trail));
    if (alone) {
      given.hand_off.continuation = kept.continuation;
      co_return given;
    }
    kept.calls.push_back(trail.call());
    if (trail.grant) kept.grants[trail.call().call_id] = trail.grant;
  }
  if (kept.calls.empty()) co_return given;
  frame.pending_tool_calls = given.hand_off.tool_calls;
  given.hand_off.continuation = continuations_.make(std::move(frame), id);
  kept.continuation = given.hand_off.continuation;
  std::vector<Draft> drafts;
  drafts.push_back(continuations_.keep(kept, {.session_id = kept.continuation.payload.session_id,
                                              .agent_id = kept.calls.front().agent_id}));
  SALLYPORT_CO_CHECK_OK(co_await parts.recorder.append(std::move(drafts), Urgency::Announces));
  co_return given;
}

Result<std::optional<HandOffs::Given::Clash>> HandOffs::clash_of(const Trail& trail) {
  if (!trail.refusal() || trail.refusal()->by != Refusal::By::Idempotency) return std::nullopt;
  const std::optional<Idempotency::Row>& row = trail.row;
  const bool same = row && row->status == Idempotency::Status::InFlight &&
                    row->request_digest == trail.request_digest();
  if (!same) return Given::Clash::Taken;
  SALLYPORT_TRY(const bool running, stages_.idempotency.running(*row));
  return running ? Given::Clash::Out : Given::Clash::Taken;
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
