// The tool calls of a run: all of them through the Governor, and each with one result in history
// before the model speaks again (RT-9, RT-22..RT-25, RT-72, RT-86, RT-87).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/run/run.h"
#include "agent/tool/refused_tool.h"
#include "agent/tool/tool_output.h"
#include "base/try.h"

namespace sallyport::agent {

using sessions::NewItem;
using sessions::RunStatus;

namespace {

constexpr std::size_t kTogether = 8;  // RT-24
constexpr std::string_view kUnknown = "interrupted: outcome unknown";

}  // namespace

Call Run::call_for(const ModelCall& model_call) const {
  Call call{.tool_call_id = model_call.id,
            .agent_id = asker_.agent_id,
            .session_id = asker_.session_id,
            .trace_id = asker_.trace_id,
            .run_id = asker_.run_id,
            .turn = report_.rounds,
            .provenance = {parts_.model.api(), parts_.settings.model.model},
            .agent_name = parts_.settings.id,
            .history_len = items_.size()};
  Toolbox::Target target = parts_.tools.target(model_call.name);
  call.server = std::move(target.server);
  call.tool = std::move(target.tool);
  const auto parsed = parse_json(model_call.arguments.empty() ? "{}" : model_call.arguments);
  call.input = parsed ? parsed->value : json::value(model_call.arguments);
  if (parsed && !parsed->exact) call.raw_input = model_call.arguments;
  const std::vector<std::string> roots = parts_.tools.roots();
  call.setting = {.front = "agent", .workspace = roots, .interactive = parts_.interactive};
  if (!roots.empty()) call.setting.folder = roots.front();
  return call;
}

const OfferedTool* Run::offered_for(const Call& call) const {
  const auto found = std::ranges::find_if(offered_, [&](const OfferedTool& tool) {
    return parts_.tools.target(tool.name) == Toolbox::Target{call.server, call.tool};
  });
  return found == offered_.end() ? nullptr : &*found;
}

std::shared_ptr<core::Upstream> Run::upstream_for(const Call& call) const {
  const OfferedTool* const tool = offered_for(call);
  std::shared_ptr<core::Upstream> upstream = tool ? parts_.tools.find(tool->name) : nullptr;
  if (!upstream) return std::make_shared<core::UnknownTool>();
  if (const auto refused = refusals_.find(call.tool_call_id); refused != refusals_.end()) {
    return std::make_shared<RefusedTool>(refused->second);
  }
  if (const Result<void> fits = check_input(*tool, call.input); !fits) {
    return std::make_shared<RefusedTool>(fits.error().message);
  }
  return upstream;
}

NewItem Run::result_of(const Call& call, const ToolResult& result) const {
  const auto first = first_ids_.find(call.tool_call_id);
  return result_item(first == first_ids_.end() ? call.tool_call_id : first->second,
                     bounded(result.output, "ask for less at a time"), !result.success);
}

// `refused`: none of them runs, and this is why.
Async<Run::Ended> Run::run_calls(std::vector<ModelCall> calls, std::string refused) {
  std::vector<Call> asked;
  for (const ModelCall& call : calls) {
    asked.push_back(call_for(call));
    if (!refused.empty()) refusals_[call.id] = refused;
  }
  return parts_.parks ? run_parking(std::move(asked)) : run_in_slices(std::move(asked));
}

std::size_t Run::adjacent(const std::vector<Call>& calls, std::size_t first) const {
  const std::shared_ptr<const core::Plan> plan = runtime_.plans.current();
  const auto observes = [&](std::size_t i) {
    return plan->classify(calls[i]).tier == Tier::Observe;
  };
  std::size_t count = 1;
  if (!observes(first)) return count;
  while (count < kTogether && first + count < calls.size() && observes(first + count)) ++count;
  return count;
}

Async<Run::Ended> Run::run_in_slices(std::vector<Call> calls) {
  std::vector<NewItem> results;
  Ended ended;
  std::size_t done = 0;
  while (done < calls.size() && !ended) {
    if ((ended = check())) break;
    if (!control_.take_call()) {
      ended = aborted(control_.over_calls());
      refusals_[calls[done].tool_call_id] = ended->reason;
    }
    std::vector<core::Governor::RunnableCall> slice;
    const std::size_t count = ended ? 1 : adjacent(calls, done);
    for (std::size_t i = done; i < done + count; ++i) {
      slice.push_back({calls[i], upstream_for(calls[i])});
      parts_.view.calling(calls[i]);
    }
    Result<std::vector<Answer>> answers = co_await runtime_.governor.run_together(
        std::move(slice), {.cancel = control_.stop(), .attendant = parts_.attendant});
    if (!answers) {
      ended = failed(answers.error().message);
      (void)co_await commit_results(std::move(results));
      co_return ended;  // those without a result are completed by `agent resume`
    }
    for (std::size_t i = 0; i < answers->size(); ++i, ++done) {
      if (i > 0) (void)control_.take_call();
      parts_.view.answered(calls[done], (*answers)[i]);
      results.push_back(result_of(calls[done], (*answers)[i].result));
    }
  }
  if (!ended) ended = check();
  for (; done < calls.size(); ++done) {
    results.push_back(result_of(calls[done], {.output = "not run: " + ended->reason}));
  }
  if (Ended not_stored = co_await commit_results(std::move(results)); not_stored && !ended) {
    co_return not_stored;
  }
  co_return ended;
}

Async<Run::Ended> Run::commit_results(std::vector<NewItem> results) {
  const Result<void> appended = co_await append(std::move(results));
  if (appended) co_return std::nullopt;
  if (Ended ended = check()) co_return ended;
  co_return failed(appended.error().message);
}

Async<Run::Ended> Run::run_parking(std::vector<Call> calls) {
  if (Ended ended = check()) co_return ended;
  Ended over;
  for (const Call& call : calls) {
    if (!control_.take_call()) {
      over = aborted(control_.over_calls());
      refusals_[call.tool_call_id] = over->reason;
    }
    parts_.view.calling(call);
  }
  Continuation::Payload frame{.session_id = asker_.session_id,
                              .run_id = asker_.run_id,
                              .turn = report_.rounds,
                              .total_usage = control_.usage()};
  Ended ended = co_await end_turn(co_await turns_.run(std::move(frame), std::move(calls),
                                                      {.cancel = control_.stop(), .holds = false}));
  co_return ended ? std::move(ended) : std::move(over);
}

// What a turn has come to enters history whole, or the run waits with it.
Async<Run::Ended> Run::end_turn(Result<core::Turns::Ended> ended) {
  if (!ended) co_return failed(ended.error().message);
  if (ended->paused) {
    co_return End{RunStatus::AwaitingApproval, "approval " + ended->approval_id, ended->paused};
  }
  std::vector<NewItem> results;
  for (const CallResult& one : ended->results) {
    results.push_back(result_of({.tool_call_id = one.tool_call_id}, one.result));
  }
  co_return co_await commit_results(std::move(results));
}

Async<Run::Ended> Run::resume_parked(Continuation continuation) {
  Result<core::Turns::Ended> ended = co_await turns_.resume(
      continuation, asker_.session_id, {}, {.cancel = control_.stop(), .holds = false});
  if (ended) co_return co_await end_turn(std::move(ended));
  if (ended.error().cause == "approval_pending") {
    parts_.view.note("no person has answered yet; see `sallyport approvals list`");
    co_return End{RunStatus::AwaitingApproval, before_->reason, std::move(continuation)};
  }
  // Another process resumed the turn, or the turn is gone. The results of its calls are recorded.
  runtime_.log("the parked turn cannot be resumed: " + ended.error().message);
  co_return std::nullopt;
}

// The result that is on record, or that nothing is known; nothing: it may run, as `call`.
Task<std::optional<NewItem>> Run::known_result(const ModelCall& model_call, Call& call) {
  core::Idempotency& rows = runtime_.governor.idempotency();
  SALLYPORT_CO_TRY(const auto row, rows.row(rows.key(call)));
  if (row && row->status == core::Idempotency::Status::Completed) {
    SALLYPORT_CO_TRY(const auto read, rows.read(call.session_id, call.tool_call_id));
    if (read && read->result) co_return result_of(call, *read->result);
  }
  const bool replay_safe = parts_.tools.replay_safe(model_call.name);
  // Without an intent on record it never began, where intents are written first.
  const bool never_began =
      !row && runtime_.plans.current()->durability() != core::IntentDurability::Relaxed;
  if (!replay_safe && !never_began) {
    co_return result_item(model_call.id, kUnknown, true);
  }
  if (row) {
    call.tool_call_id = fmt::format("{}.again.{}", model_call.id, asker_.run_id);
    first_ids_[call.tool_call_id] = model_call.id;
  }
  co_return std::nullopt;
}

Async<Run::Ended> Run::complete_open_calls() {
  for (const ModelCall& model_call : open_calls(items_)) {
    if (Ended ended = check()) co_return ended;
    Call call = call_for(model_call);
    const Result<std::optional<NewItem>> known = co_await known_result(model_call, call);
    if (!known) co_return failed(known.error().message);
    Ended ended;
    if (*known) {
      std::vector<NewItem> one;
      one.push_back(**known);
      ended = co_await commit_results(std::move(one));
    } else {
      std::vector<Call> one;
      one.push_back(std::move(call));
      ended = parts_.parks ? co_await run_parking(std::move(one))
                           : co_await run_in_slices(std::move(one));
    }
    if (ended) co_return ended;
  }
  co_return std::nullopt;
}

}  // namespace sallyport::agent
