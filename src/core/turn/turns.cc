#include "core/turn/turns.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "core/call/call_check.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

namespace {

std::unexpected<Error> turn_refused(std::string cause, std::string message) {
  return fail(ErrorCode::Conflict, std::move(message), "continuation", std::move(cause));
}

// The pending form of a call that is not decided yet.
PendingCall pending_of(const Call& call, const Classification& tool) {
  return {.id = call.tool_call_id,
          .name = call.tool,
          .display_name = tool.display_name.empty() ? call.tool : tool.display_name,
          .tier = tool.tier,
          .input = call.input,
          .effective_input = call.input};
}

}  // namespace

Task<Turns::Ended> Turns::run(Continuation::Payload frame, std::vector<Call> calls, Caller caller) {
  frame.pending_tool_calls.clear();
  const std::shared_ptr<const Plan> plan = governor_.stages().parts.plans.current();
  for (Call& call : calls) {
    call.session_id = frame.session_id;
    call.turn = frame.turn;
    // Checks all calls before the first one runs: a later error would lose results.
    SALLYPORT_CO_CHECK_OK(check_call(call, governor_.stages().parts.redactor));
    frame.pending_tool_calls.push_back(pending_of(call, plan->classify(call)));
  }
  co_return co_await go_on(std::move(frame), std::move(calls), 0, std::move(caller));
}

Task<Turns::Ended> Turns::go_on(Continuation::Payload frame, std::vector<Call> calls,
                                std::size_t next, Caller caller) {
  caller.holds = false;
  for (std::size_t done = next; done < calls.size();) {
    std::vector<Governor::RunnableCall> rest;
    for (std::size_t i = done; i < calls.size(); ++i) {
      std::shared_ptr<Upstream> upstream = find_tool_(calls[i]);
      if (!upstream) upstream = std::make_shared<UnknownTool>();
      rest.push_back({calls[i], std::move(upstream)});
    }
    SALLYPORT_CO_TRY(std::vector<Answer> answers,
                     co_await governor_.run_together(std::move(rest), caller));
    for (Answer& answer : answers) {
      calls[done].call_id = answer.call_id;
      // A call without an id gets its own from here on (AU-8).
      if (calls[done].tool_call_id.empty()) {
        calls[done].tool_call_id = answer.call_id;
        frame.pending_tool_calls[done].id = answer.call_id;
      }
      SALLYPORT_CO_TRY(const bool pauses, waits(answer));
      if (pauses) co_return co_await pause(std::move(frame), std::move(calls), done, answer);
      frame.completed_results.push_back({calls[done].tool_call_id, std::move(answer.result)});
      ++done;
    }
  }
  co_return Ended{.results = std::move(frame.completed_results)};
}

// The caller of a proposal is answered at once, and the proposal runs without it (AU-39).
Result<bool> Turns::waits(const Answer& answer) {
  if (answer.outcome.kind != Outcome::Kind::RequiresConfirmation) return false;
  SALLYPORT_TRY(const auto proposed, governor_.recorder().fact(kProposedCall, answer.approval_id));
  return !proposed;
}

Task<Turns::Ended> Turns::pause(Continuation::Payload frame, std::vector<Call> calls,
                                std::size_t index, const Answer& asked) {
  frame.awaiting_index = index;
  if (asked.pending) frame.pending_tool_calls[index] = *asked.pending;
  const Subject subject{
      .call_id = asked.call_id, .session_id = frame.session_id, .agent_id = calls[index].agent_id};
  Ended ended{.results = frame.completed_results, .approval_id = asked.approval_id};
  ended.paused = continuations_.make(std::move(frame), continuations_.fresh_id());
  std::vector<Draft> drafts;
  drafts.push_back(continuations_.keep({.continuation = *ended.paused,
                                        .calls = std::move(calls),
                                        .approval_id = asked.approval_id,
                                        .deadline = {}},
                                       subject));
  SALLYPORT_CO_CHECK_OK(
      co_await governor_.recorder().append(std::move(drafts), Urgency::Announces));
  co_return ended;
}

Result<ResumeDecision> Turns::decision(const std::string& approval_id) {
  SALLYPORT_TRY(const auto state, governor_.approvals().state(approval_id));
  if (!state) return turn_refused("tool_call_mismatch", "there is no such approval");
  if (state->status == ApprovalStatus::Pending)
    return turn_refused("approval_pending", "no person has answered yet");
  if (state->status == ApprovalStatus::Used || state->status == ApprovalStatus::Invalidated) {
    return turn_refused("already_resumed", "the call that waited has ended");
  }
  SALLYPORT_TRY(const Reply reply, governor_.approvals().reply_of(*state));
  if (reply.kind == Reply::Kind::Approved) {
    return ResumeDecision{ResumeDecision::Kind::Approved, {}};
  }
  if (reply.kind == Reply::Kind::Expired) return ResumeDecision{ResumeDecision::Kind::Timeout, {}};
  return ResumeDecision{ResumeDecision::Kind::Rejected, reply.reason};
}

// Makes all checks of AU-71 in their order. Afterwards only this process has the turn.
Task<Continuations::Found> Turns::take(const Continuation& continuation,
                                       const std::string& session_id,
                                       const std::string& approval_id) {
  Recorder& recorder = governor_.recorder();
  SALLYPORT_CO_TRY(Continuations::Found found, continuations_.find(continuation, session_id));
  const std::uint64_t index = continuation.payload.awaiting_index;
  if (index >= continuation.payload.pending_tool_calls.size()) {
    co_return turn_refused("index_out_of_range",
                           fmt::format("no call {} waits in this turn", index));
  }
  if (!found.over() && ((!approval_id.empty() && approval_id != found.kept.approval_id) ||
                        continuation.payload.pending_tool_calls[index].id !=
                            found.kept.calls.at(index).tool_call_id)) {
    co_return turn_refused("tool_call_mismatch", "that approval is not about this call");
  }
  const bool held = found.state == Continuations::State::Taken && recorder.alive(found.taken_by);
  if (found.over() || held) co_return turn_refused("already_resumed", "this turn has been resumed");
  SALLYPORT_CO_CHECK_OK(co_await governor_.approvals().expire(found.kept.approval_id));
  SALLYPORT_CO_TRY([[maybe_unused]] const ResumeDecision answered,
                   decision(found.kept.approval_id));
  Draft draft{
      .kind = Kind::Topic,
      .subject = Subject{.call_id = found.kept.calls[index].call_id, .session_id = session_id},
      .topic = "turns",
      .body = {{"record", "turn_resumed"}, {"continuation_id", continuation.id}}};
  draft.facts = Continuations::taken(continuation.id, recorder.instance_id());
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  const auto taken =
      co_await recorder.append(std::move(drafts), Urgency::Announces,
                               {Continuations::expected(continuation.id, found.stored)});
  if (!taken && taken.error().code == ErrorCode::Conflict) {
    co_return turn_refused("already_resumed", "this turn has been resumed");
  }
  if (!taken) co_return std::unexpected(taken.error());
  co_return found;
}

Task<Turns::Ended> Turns::resume(Continuation continuation, std::string session_id,
                                 std::string approval_id, Caller caller) {
  SALLYPORT_CO_TRY(Continuations::Found found,
                   co_await take(continuation, session_id, approval_id));
  Continuation::Payload frame = std::move(found.kept.continuation.payload);
  std::vector<Call>& calls = found.kept.calls;
  const std::size_t index = frame.awaiting_index;
  std::shared_ptr<Upstream> upstream = find_tool_(calls[index]);
  if (!upstream) upstream = std::make_shared<UnknownTool>();
  caller.holds = false;
  SALLYPORT_CO_TRY(Answer answer, co_await governor_.resume(
                                      {.call = calls[index],
                                       .approval_id = found.kept.approval_id,
                                       .prepared = frame.pending_tool_calls[index].listen_context,
                                       .closing = Continuations::closed(continuation.id)},
                                      upstream, caller));
  SALLYPORT_CO_TRY(const bool pauses, waits(answer));
  if (pauses) co_return co_await pause(std::move(frame), std::move(calls), index, answer);
  frame.completed_results.push_back({calls[index].tool_call_id, std::move(answer.result)});
  co_return co_await go_on(std::move(frame), std::move(calls), index + 1, std::move(caller));
}

}  // namespace sallyport::core
