// The tool calls of a run. All go through the Governor, and each has one result in the history
// before the next model request (RT-9, RT-22..RT-25, RT-72, RT-87).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/run/run.h"
#include "agent/tool/refused_tool.h"
#include "agent/tool/tool_output.h"
#include "base/cut_text.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "core/call/call_check.h"

namespace sallyport::agent {

using sessions::NewItem;
using sessions::RunStatus;

namespace {

constexpr std::size_t kTogether = 8;  // RT-24
// The Governor takes no longer id or name.
constexpr std::size_t kLongestGoverned = 512;

}  // namespace

std::string Run::short_id(std::string id) {
  if (id.size() <= kLongestGoverned) return id;
  return "call_" + hex(sha256(id)).substr(0, 32);
}

Result<bool> Run::was_used(const std::string& id, const std::set<std::string>& in_transcript) {
  if (in_transcript.contains(id)) return true;
  core::Idempotency& rows = runtime_.governor.idempotency();
  // A compaction may have removed the earlier call, but its row stays.
  SALLYPORT_TRY(const auto row,
                rows.row(rows.key({.tool_call_id = id, .session_id = asker_.session_id})));
  return row.has_value();
}

// Some servers count the calls of each message from zero. The Governor would take such a call for
// the earlier one with its id, so it gets an id of its own before it enters the transcript.
Task<void> Run::make_ids_unique(std::vector<ModelCall>& calls) {
  if (calls.empty()) co_return Result<void>{};
  const std::set<std::string> before = call_ids(items_);
  std::set<std::string> taken;
  for (const ModelCall& call : calls) taken.insert(call.id);
  for (ModelCall& call : calls) {
    std::string id = short_id(call.id);
    SALLYPORT_CO_TRY(bool used, was_used(id, before));
    for (std::uint64_t number = revision_ + 1; used; ++number) {
      id = short_id(fmt::format("{}_{}", call.id, number));
      SALLYPORT_CO_TRY(used, was_used(id, before));
      used = used || taken.contains(id);
    }
    taken.insert(id);
    call.id = std::move(id);
  }
  co_return Result<void>{};
}

// The id of a call for the Governor. Older transcripts have longer ids than it takes.
std::string Run::governed_id(const std::string& id) {
  std::string governed = short_id(id);
  if (governed != id) first_ids_[governed] = id;
  return governed;
}

// The Governor refuses such a call together with its neighbours, and then no call of the message
// would have a result. So the call goes to it in a form that it takes, and does not run.
void Run::make_acceptable(Call& call, const ModelCall& model_call) {
  const Result<void> acceptable = core::check_call(call);
  if (acceptable) return;
  refusals_[call.tool_call_id] = acceptable.error().message;
  if (acceptable.error().where == "input") {
    call.input = json::value(model_call.arguments);
    call.raw_input.reset();
  } else {
    call.server = kToolProfile;
    call.tool = cut_utf8_bytes(model_call.name, kLongestGoverned);
  }
}

Call Run::call_for(const ModelCall& model_call) {
  Call call{.tool_call_id = governed_id(model_call.id),
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
  make_acceptable(call, model_call);
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
                     cut_with_hint(result.output, "ask for less at a time"), !result.success);
}

// `refused`: the reason why none of them runs; empty: they run.
Async<Run::Ended> Run::run_calls(std::vector<ModelCall> calls, std::string refused) {
  std::vector<Call> requested;
  for (const ModelCall& call : calls) {
    requested.push_back(call_for(call));
    if (!refused.empty()) refusals_[requested.back().tool_call_id] = refused;
  }
  return parts_.parks ? run_parking(std::move(requested)) : run_in_slices(std::move(requested));
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
    // Calls that do not run together are presented again, so each is counted with its answer.
    const std::size_t count =
        ended ? 1 : std::min(adjacent(calls, done), 1 + control_.calls_left());
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
  json::object refused;
  for (const Call& call : calls) {
    if (!control_.take_call()) {
      over = aborted(control_.over_calls());
      refusals_[call.tool_call_id] = over->reason;
      refused[call.tool_call_id] = over->reason;
    }
    parts_.view.calling(call);
  }
  Continuation::Payload frame{.session_id = asker_.session_id,
                              .run_id = asker_.run_id,
                              .turn = report_.rounds,
                              .total_usage = control_.usage()};
  // The run that resumes the turn refuses them too.
  if (!refused.empty()) frame.state = json::object{{kRefused, std::move(refused)}};
  Ended ended = co_await end_turn(co_await turns_.run(std::move(frame), std::move(calls),
                                                      {.cancel = control_.stop(), .holds = false}));
  co_return ended ? std::move(ended) : std::move(over);
}

// Adds all results of a turn to the history, or ends the run if the turn is paused.
Async<Run::Ended> Run::end_turn(Result<core::Turns::Ended> ended) {
  if (!ended) co_return failed(ended.error().message);
  if (ended->paused) {
    co_return awaits(ended->approval_id, ended->paused);
  }
  std::vector<NewItem> results;
  for (const CallResult& call_result : ended->results) {
    results.push_back(result_of({.tool_call_id = call_result.tool_call_id}, call_result.result));
  }
  co_return co_await commit_results(std::move(results));
}

}  // namespace sallyport::agent
