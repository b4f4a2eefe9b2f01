#include "core/handoff/continued_call.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/call_record.h"
#include "core/handoff/hand_offs.h"
#include "core/handoff/model_calls.h"
#include "core/handoff/waiting_facts.h"
#include "core/turn/continuations.h"

namespace sallyport::core {

namespace {

using model_calls::Deferred;
using model_calls::Proposed;

// A call that was handed out to the proxy's client.
struct Out {
  Continuations::Found found;
  Call call;  // as it was handed out
  PendingCall pending;
  Idempotency::Row row;
  std::string row_key;
  std::uint64_t intent_at = 0;
  json::object intent;      // body
  std::string policy_hash;  // under which it was decided
};

// No value: it is not handed out any more.
Result<std::optional<Out>> handed_out(Governor& governor, const Proposed& proposed,
                                      const std::string& model_id) {
  Stages& stages = governor.stages();
  GovernorParts& parts = stages.parts;
  Out out;
  out.row_key =
      stages.idempotency.key({.tool_call_id = model_id, .session_id = proposed.session_id});
  SALLYPORT_TRY(const std::optional<Idempotency::Row> row, stages.idempotency.row(out.row_key));
  if (!row || row->call_id != proposed.call_id) return std::nullopt;
  out.row = *row;
  SALLYPORT_TRY(const auto fact, parts.recorder.fact(kHandedOut, proposed.call_id));
  const std::optional<Placed> placed = fact ? split_place(*fact) : std::nullopt;
  if (!placed) return std::nullopt;
  out.intent_at = placed->sequence;
  SALLYPORT_TRY(const json::object entry, parts.recorder.entry(placed->sequence));
  const json::object* const body = object_in(entry, "body");
  if (body == nullptr) return std::nullopt;
  out.intent = *body;
  out.policy_hash = text_or_empty(entry, "policy_hash");
  Continuations continuations(parts.recorder, parts.recorder, parts.digest, parts.clock,
                              parts.entropy);
  SALLYPORT_TRY(std::optional<Continuations::Found> found,
                continuations.load(text_or_empty(out.intent, "continuation_id")));
  if (!found || found->state != Continuations::State::Open || found->kept.calls.size() != 1)
    return std::nullopt;
  out.found = std::move(*found);
  out.call = out.found.kept.calls.front();
  out.pending = out.found.kept.continuation.payload.pending_tool_calls.front();
  const bool ours =
      out.found.kept.continuation.payload.state == HandOffs::proposed_to(out.call.agent_id);
  return ours ? std::optional(std::move(out)) : std::nullopt;
}

bool same_input(const Out& out, const Call& call) {
  if (out.call.raw_input || call.raw_input) return out.call.raw_input == call.raw_input;
  return out.pending.effective_input == call.input || out.pending.input == call.input;
}

// True if a door behind the proxy has a reason of its own to ask. The tier is no reason: the proxy
// has resolved it and charged its budget.
bool asks_again(const Trail& trail) {
  const bool rules_ask = trail.rules && trail.rules->verdict == RuleAnswer::Verdict::Asks;
  return trail.question || rules_ask || trail.cautious();
}

class ContinuedCall {
 public:
  ContinuedCall(Governor& governor, Out out, Call asked)
      : governor_(governor),
        stages_(governor.stages()),
        out_(std::move(out)),
        trail_(governor.trail_of(call_of(asked))) {}

  // `Conflict`: another process took the call first.
  Task<Answer> run(std::shared_ptr<Upstream> upstream, Caller caller) {
    SALLYPORT_CO_CHECK_OK(stages_.parts.recorder.accept_call());
    take_consent(*upstream);
    co_await stages_.first_door.authorize(trail_, upstream, caller.cancel);
    while (trail_.needs_person && asks_again(trail_)) {
      SALLYPORT_CO_TRY(const bool answered, co_await stages_.asking.ask(trail_, caller));
      if (!answered) co_return stages_.asking.waiting(trail_);
      asked_here_ = true;
      co_await stages_.first_door.authorize(trail_, upstream, caller.cancel);
    }
    trail_.needs_person = false;
    if (!trail_.open()) {
      trail_.closing_facts = end_facts();
      trail_.closing_facts.push_back(Idempotency::expected(out_.row_key, std::nullopt));
      trail_.closing_expected.push_back(still_open());
      co_return co_await governor_.end_unrun(trail_, std::nullopt, *upstream, caller.cancel);
    }
    SALLYPORT_CO_CHECK_OK(co_await take());
    co_return co_await governor_.conduct(trail_, std::move(upstream), caller);
  }

 private:
  // The call of the proxy, at the server and with the setting of this door.
  Call call_of(Call& asked) const {
    Call call = out_.call;
    call.server = std::move(asked.server);
    call.tool = std::move(asked.tool);
    call.agent_name = std::move(asked.agent_name);
    call.grants = std::move(asked.grants);
    call.setting = std::move(asked.setting);
    call.scopes = std::move(asked.scopes);
    if (out_.pending.input != out_.pending.effective_input) {
      call.input = out_.pending.input;
      call.raw_input.reset();
    }
    return call;
  }

  // Takes over the approval of the proposed call. It is valid under the same policy.
  void take_consent(Upstream& upstream) {
    const std::string approval_id = text_or_empty(out_.intent, "request_id");
    if (approval_id.empty() || out_.policy_hash != trail_.plan().hash()) return;
    const auto state = stages_.approvals.state(approval_id);
    if (!state || !*state || (*state)->status != ApprovalStatus::Used) return;
    trail_.tool_definition(upstream.definition());
    trail_.approval_id = approval_id;
    const std::vector<Vote> votes = (*state)->counted();
    trail_.consent = Consent{.approval_id = approval_id,
                             .call_digest = trail_.call_digest(),
                             .state = **state,
                             .by = votes.empty() ? "" : votes.front().by,
                             .at = votes.empty() ? "" : votes.back().at,
                             .sequence = (*state)->sequence,
                             .binding = text_or_empty(out_.intent, "binding"),
                             .votes = votes};
  }

  Fact still_open() const {
    return Continuations::expected(out_.found.kept.continuation.id, out_.found.stored);
  }
  std::vector<Fact> end_facts() const {
    std::vector<Fact> facts = Continuations::closed(out_.found.kept.continuation.id);
    facts.push_back({std::string(kHandedOut), out_.call.call_id, std::nullopt});
    return facts;
  }

  // From now on this process runs the call, with the intent that it had.
  Task<void> take() {
    Recorder& recorder = stages_.parts.recorder;
    Draft draft{.kind = Kind::Topic,
                .subject = trail_.subject(),
                .topic = "turns",
                .body = {{"record", "call_continued"},
                         {"continuation_id", out_.found.kept.continuation.id},
                         {"door", trail_.call().setting.front}},
                .facts = end_facts()};
    draft.facts.push_back({std::string(kOpenCall), out_.call.call_id,
                           recorder.instance_id() + "@" + std::to_string(out_.intent_at)});
    std::vector<Fact> expected{still_open()};
    if (asked_here_ && trail_.consent) use_consent(draft, expected);
    Batch batch;
    batch.add(std::move(draft));
    SALLYPORT_CO_CHECK_OK(co_await stages_.journal.commit(trail_, std::move(batch),
                                                          Urgency::Announces, std::move(expected)));
    trail_.opened = true;
    trail_.announced = true;
    trail_.intent_durable = true;
    trail_.started_at = text_or_empty(out_.intent, "started_at");
    trail_.row_key = out_.row_key;
    if (trail_.consent) {
      trail_.closing_facts.push_back(
          {std::string(kApprovalResult), trail_.consent->approval_id, "", true});
    }
    co_return Result<void>{};
  }

  void use_consent(Draft& draft, std::vector<Fact>& expected) {
    if (const auto state = stages_.approvals.state(trail_.consent->approval_id); state && *state) {
      trail_.consent->state = **state;
    }
    Approvals::Change used =
        Approvals::change(trail_.consent->approval_id, trail_.consent->state, ApprovalStatus::Used);
    expected.push_back(std::move(used.expected));
    draft.facts.push_back(std::move(used.fact));
    draft.facts.push_back({std::string(kHeldCall), out_.call.call_id, std::nullopt});
    draft.facts.push_back({std::string(kAskedCall), asked_key(trail_), std::nullopt});
  }

  Governor& governor_;
  Stages& stages_;
  Out out_;
  Trail trail_;
  bool asked_here_ = false;  // the one question was asked at this door
};

// The door decides and runs it like any call; the fact says that a door has seen it.
Task<Answer> run_deferred(Governor& governor, Call call, Fact seen,
                          std::shared_ptr<Upstream> upstream, Caller caller) {
  SALLYPORT_CO_CHECK_OK(governor.accept(call));
  Trail trail = governor.trail_of(std::move(call));
  trail.closing_facts.push_back(std::move(seen));
  co_return co_await governor.govern(trail, std::move(upstream), std::move(caller));
}

}  // namespace

Task<Answer> run_model_call(Governor& governor, Call call, std::string model_id,
                            std::shared_ptr<Upstream> upstream, Caller caller) {
  Recorder& recorder = governor.recorder();
  std::vector<Proposed> all;
  if (!model_id.empty()) {
    SALLYPORT_CO_TRY(all, model_calls::find(recorder, recorder, call.agent_id, model_id));
  }
  const Proposed* latest = nullptr;  // of those that were handed out
  for (const Proposed& proposed : all) {
    if (!model_calls::is_same_tool(proposed, call)) continue;
    if (proposed.call_id.empty()) {
      SALLYPORT_CO_TRY(std::optional<Deferred> deferred,
                       model_calls::find_deferred(recorder, proposed.deferred));
      if (!deferred || deferred->asked != model_calls::asked_digest(call)) continue;
      deferred->state = Deferred::State::Seen;
      Fact seen = model_calls::deferred_fact(proposed.deferred, *deferred);
      co_return co_await run_deferred(governor, std::move(call), std::move(seen),
                                      std::move(upstream), std::move(caller));
    }
    SALLYPORT_CO_TRY(std::optional<Out> out, handed_out(governor, proposed, model_id));
    if (out && same_input(*out, call)) {
      ContinuedCall continued(governor, std::move(*out), call);
      Result<Answer> answer = co_await continued.run(upstream, caller);
      if (answer || answer.error().code != ErrorCode::Conflict) co_return answer;
    }
    if (!latest) latest = &proposed;
  }
  if (latest) {
    // It has ended, it runs, or its input is another one: the row of the call says which.
    call.session_id = latest->session_id;
    call.tool_call_id = model_id;
  }
  co_return co_await governor.run(std::move(call), std::move(upstream), std::move(caller));
}

}  // namespace sallyport::core
