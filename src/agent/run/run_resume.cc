// Continues what earlier runs left open: a turn that waits for a person, calls without a result in
// the history, and proposals that a person has answered (RT-85..RT-87, AU-75, AP-22).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/run/run.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/result/not_run.h"

namespace sallyport::agent {

using sessions::NewItem;
using sessions::Role;
using sessions::RunStatus;

namespace {

constexpr std::string_view kUnknown = "interrupted: outcome unknown";
constexpr const char* kPending = "approval_pending";

// When the model made the calls that are open now.
WallTime time_of_calls(std::span<const sessions::Item> items) {
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->role == Role::Assistant) return from_rfc3339(item->created_at).value_or(WallTime{});
  }
  return {};
}

std::string reason_of(const json::object& record) {
  const json::object* const outcome = object_in(record, "outcome");
  return outcome == nullptr ? "" : text_or_empty(*outcome, "reason");
}

std::string kind_of(const json::object& record) {
  const json::object* const outcome = object_in(record, "outcome");
  return outcome == nullptr ? "" : text_or_empty(*outcome, "kind");
}

std::string text_not_run(core::NotRun why, const json::object& record) {
  return core::not_run_text(why, text_or_empty(record, "tool_name"),
                            text_or_empty(record, "autonomy"), text_or_empty(record, "call_id"),
                            text_or_empty(record, "approval_id"));
}

// What the model was told of a call that did not run. No value: the record does not say that.
std::optional<ToolResult> told_of(const json::object& record) {
  const std::string kind = kind_of(record);
  const std::string reason = reason_of(record);
  if (kind == "invalidated") return ToolResult{.output = reason};
  if (kind == "blocked" && reason.starts_with("shadow:")) {
    return ToolResult{.success = true, .output = text_not_run(core::NotRun::Skipped, record)};
  }
  if (kind == "blocked") {
    const bool said = reason.starts_with("Blocked by rule `");
    return ToolResult{.output = said ? reason : "Blocked: " + reason};
  }
  if (kind == "requires_confirmation" && text_or_empty(record, "autonomy") == "suggest") {
    return ToolResult{.success = true, .output = text_not_run(core::NotRun::Proposed, record)};
  }
  return std::nullopt;
}

// The id of a call that runs again after a crash, in this run.
std::string again(const std::string& id, std::string_view run_id) {
  return fmt::format("{}.again.{}", id, run_id);
}

}  // namespace

Run::End Run::awaits(const std::string& approval_id, std::optional<Continuation> continuation) {
  return {RunStatus::AwaitingApproval, "approval " + approval_id, std::move(continuation)};
}

// The last turn that waited for a person, if its results are not in the history.
std::optional<Continuation> Run::parked_turn() const {
  const auto parked = continuation_from_text(parked_);
  if (!parked) return std::nullopt;
  const Continuation::Payload& payload = parked->payload;
  if (payload.awaiting_index >= payload.pending_tool_calls.size()) return std::nullopt;
  const std::string& waits = payload.pending_tool_calls[payload.awaiting_index].id;
  const bool open = std::ranges::any_of(open_calls(items_), [&](const ModelCall& call) {
    const std::string id = short_id(call.id);
    return id == waits || short_id(again(id, payload.run_id.value_or(""))) == waits;
  });
  return open ? std::optional(*parked) : std::nullopt;
}

Task<bool> Run::is_pending(std::string approval_id) {
  SALLYPORT_CO_CHECK_OK(co_await runtime_.governor.approvals().expire(approval_id));
  const auto decision = turns_.decision(approval_id);
  co_return !decision && decision.error().cause == kPending;
}

// The approval that the turn still waits for. Empty: it can be resumed.
Task<std::string> Run::pending_of(const Continuation& parked) {
  SALLYPORT_CO_TRY(const auto found, continuations_.load(parked.id));
  if (!found || found->kept.approval_id.empty()) co_return std::string();
  SALLYPORT_CO_TRY(const bool pending, co_await is_pending(found->kept.approval_id));
  co_return pending ? found->kept.approval_id : std::string();
}

// A message has no place in the transcript before the results of the turn that waits.
Task<void> Run::refuse_while_parked() {
  const std::optional<Continuation> parked = parked_turn();
  if (!parked) co_return Result<void>{};
  SALLYPORT_CO_TRY(const std::string approval_id, co_await pending_of(*parked));
  if (approval_id.empty()) co_return Result<void>{};
  co_return fail(ErrorCode::Conflict,
                 fmt::format("session `{}` waits for approval {}, so the message was not stored; "
                             "send it again when a person has answered",
                             asker_.session_id, approval_id),
                 {}, "awaiting_approval");
}

// Calls that were over the budget when the turn began stay refused. The others count in this run.
// A value: the run ends after the turn (RT-72).
Run::Ended Run::count_parked(const Continuation::Payload& payload) {
  const json::object* const state = payload.state.if_object();
  const json::object* const refused = state == nullptr ? nullptr : object_in(*state, kRefused);
  Ended over;
  for (std::size_t i = payload.awaiting_index; i < payload.pending_tool_calls.size(); ++i) {
    const std::string& id = payload.pending_tool_calls[i].id;
    std::string why = refused == nullptr ? "" : text_or_empty(*refused, id);
    if (why.empty() && !control_.take_call()) why = control_.over_calls().reason();
    if (why.empty()) continue;
    refusals_[id] = why;
    over = End{RunStatus::Aborted, std::move(why)};
  }
  return over;
}

Async<Run::Ended> Run::resume_parked(Continuation continuation) {
  const Result<std::string> pending = co_await pending_of(continuation);
  if (!pending) co_return failed(pending.error().message);
  if (!pending->empty()) {
    parts_.view.note("no person has answered yet; see `sallyport approvals list`");
    co_return awaits(*pending, std::move(continuation));
  }
  for (const ModelCall& call : open_calls(items_)) {
    const std::string id = governed_id(call.id);
    first_ids_[short_id(again(id, continuation.payload.run_id.value_or("")))] = call.id;
  }
  const Ended over = count_parked(continuation.payload);
  while (true) {
    Result<core::Turns::Ended> ended = co_await turns_.resume(
        continuation, asker_.session_id, {}, {.cancel = control_.stop(), .holds = false});
    if (!ended) {
      // Another process resumed the turn, or the turn is gone. The results of its calls are
      // recorded.
      runtime_.log("the parked turn cannot be resumed: " + ended.error().message);
      co_return std::nullopt;
    }
    if (!ended->paused || parts_.parks) {
      Ended then = co_await end_turn(std::move(ended));
      co_return then ? std::move(then) : over;
    }
    // Another call of the turn needs a person.
    continuation = *ended->paused;
    if (Ended stopped = co_await wait_for_answer(ended->approval_id)) {
      stopped->continuation = std::move(continuation);
      co_return stopped;
    }
  }
}

// A value: the run ends first (RT-87).
Async<Run::Ended> Run::wait_for_answer(std::string approval_id) {
  parts_.view.note(fmt::format("a person is asked: sallyport approvals show {}", approval_id));
  while (true) {
    if (Ended ended = check()) co_return ended;
    const Result<bool> pending = co_await is_pending(approval_id);
    if (!pending) co_return failed(pending.error().message);
    if (!*pending) co_return std::nullopt;
    co_await runtime_.governor.approvals().pause(approval_id, control_.stop());
  }
}

// What the ledger says of the call (RT-86).
Task<Run::Known> Run::known_of(const ModelCall& model_call, Call& call) {
  core::Idempotency& rows = runtime_.governor.idempotency();
  SALLYPORT_CO_TRY(const auto row, rows.row(rows.key(call)));
  if (row && row->status == core::Idempotency::Status::Completed) {
    SALLYPORT_CO_TRY(const auto read, rows.read(call.session_id, call.tool_call_id));
    if (read && read->result) co_return Known{.result = result_of(call, *read->result)};
  }
  if (!row) {
    // Calls that were refused, or wait for a person, have no row.
    using Found = Result<std::optional<json::object>>;
    SALLYPORT_CO_TRY(auto record,
                     co_await on_pool<Found>(
                         runtime_.pool, [find = runtime_.last_record, session = call.session_id,
                                         id = call.tool_call_id, since = time_of_calls(items_)] {
                           return find(session, id, since);
                         }));
    if (record) {
      if (const auto told = told_of(*record)) co_return Known{.result = result_of(call, *told)};
      if (kind_of(*record) == "requires_confirmation") {
        co_return Known{.asked = std::move(record)};
      }
    }
  }
  // If intents are written first, a call without a recorded intent never began.
  const bool never_began =
      !row && runtime_.plans.current()->durability() != core::IntentDurability::Relaxed;
  if (!parts_.tools.replay_safe(model_call.name) && !never_began) {
    co_return Known{.result = result_item(model_call.id, kUnknown, true)};
  }
  if (row) {
    call.tool_call_id = short_id(again(call.tool_call_id, asker_.run_id));
    first_ids_[call.tool_call_id] = model_call.id;
  }
  co_return Known{};
}

// Continues a call whose process ended while a person was asked (AU-75). No value: it does not
// wait any more, or it joins its question when it is presented again (AP-36).
Async<std::optional<Run::Ended>> Run::resume_waiting(const Call& call, const json::object& asked) {
  core::Governor::Resumption waited{.call = call,
                                    .approval_id = text_or_empty(asked, "approval_id")};
  waited.call.call_id = text_or_empty(asked, "call_id");
  if (const auto* const shown = object_in(asked.at("outcome").as_object(), "listen_context")) {
    const Result<Prepared> prepared = prepared_from_json(*shown);
    if (!prepared) co_return std::nullopt;
    waited.prepared = *prepared;
  }
  Result<Answer> answer = fail(ErrorCode::Conflict, "not asked yet", {}, kPending);
  while (true) {
    if (Ended ended = check()) co_return ended;
    answer = co_await runtime_.governor.resume(
        waited, upstream_for(call),
        {.cancel = control_.stop(), .holds = !parts_.parks, .attendant = parts_.attendant});
    if (answer || answer.error().cause != kPending) break;
    if (parts_.parks) co_return Ended(awaits(waited.approval_id));
    if (!waited.prepared) co_return std::nullopt;
    if (Ended ended = co_await wait_for_answer(waited.approval_id)) co_return ended;
  }
  if (!answer && answer.error().code == ErrorCode::Conflict) co_return std::nullopt;
  if (!answer) co_return Ended(failed(answer.error().message));
  (void)control_.take_call();
  const bool waits = answer->outcome.kind == Outcome::Kind::RequiresConfirmation;
  if (waits && parts_.parks) co_return Ended(awaits(answer->approval_id));
  std::vector<NewItem> results;
  results.push_back(result_of(call, answer->result));
  co_return co_await commit_results(std::move(results));
}

Async<Run::Ended> Run::run_again(Call call) {
  std::vector<Call> calls;
  calls.push_back(std::move(call));
  co_return parts_.parks ? co_await run_parking(std::move(calls))
                         : co_await run_in_slices(std::move(calls));
}

Async<Run::Ended> Run::complete_open_calls() {
  for (const ModelCall& model_call : open_calls(items_)) {
    if (Ended ended = check()) co_return ended;
    Call call = call_for(model_call);
    Result<Known> known = co_await known_of(model_call, call);
    if (!known) co_return failed(known.error().message);
    std::optional<Ended> ended;
    if (known->result) {
      std::vector<NewItem> results;
      results.push_back(std::move(*known->result));
      ended = co_await commit_results(std::move(results));
    } else if (known->asked) {
      ended = co_await resume_waiting(call, *known->asked);
    }
    if (!ended) ended = co_await run_again(std::move(call));
    if (*ended) co_return std::move(*ended);
  }
  co_return std::nullopt;
}

// Proposals of this session run without the model: it was told that they do not run now (AP-22).
Async<void> Run::run_proposals() {
  const auto find_tool = [this](const Call& call) -> std::shared_ptr<core::Upstream> {
    const bool ours = call.session_id == asker_.session_id && call.agent_id == asker_.agent_id;
    return ours && offered_for(call) != nullptr ? upstream_for(call) : nullptr;
  };
  const auto ran = co_await runtime_.governor.run_answered(find_tool, control_.stop());
  if (!ran) runtime_.log("proposals cannot be run: " + ran.error().message);
}

}  // namespace sallyport::agent
