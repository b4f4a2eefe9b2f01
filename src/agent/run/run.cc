#include "agent/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "agent/run/recovery.h"
#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"

namespace sallyport::agent {

using sessions::NewItem;
using sessions::RunStatus;
using sessions::SessionStore;

namespace {

std::string why_blocked(const NoAnswer& none) {
  const core::TextBlock& block = *none.block;
  if (block.reason_code.empty()) return fmt::format("`{}`: {}", block.check, block.reason);
  return fmt::format("guardrail check `{}` {} ({})", block.check,
                     none.answered ? "withheld the answer" : "refused the prompt",
                     block.reason_code);
}

}  // namespace

json::object to_json(const RunReport& report) {
  return {{"session_id", report.session_id},
          {"run_id", report.run_id},
          {"status", sessions::to_string(report.status)},
          {"reason", text_or_null(report.reason)},
          {"text", report.text},
          {"rounds", report.rounds},
          {"tool_calls", report.tool_calls},
          {"usage", to_json(report.usage)},
          {"policy_hash", report.policy_hash},
          {"first_sequence", report.first_sequence},
          {"last_sequence", report.last_sequence},
          {"continuation",
           report.continuation ? json::value(to_json(*report.continuation)) : json::value()}};
}

Run::Run(RunParts parts, std::stop_token cancel)
    : parts_(std::move(parts)),
      runtime_(parts_.runtime),
      asker_{parts_.settings.id, parts_.lease.session_id(),
             uuid7_text(runtime_.clock, runtime_.entropy), random_id(runtime_.entropy)},
      control_(parts_.settings.limits, runtime_.clock, runtime_.executor, std::move(cancel)),
      memory_(runtime_, parts_.settings.memory, asker_),
      compaction_({runtime_, parts_.settings, parts_.model, control_, parts_.lease, asker_}),
      continuations_(runtime_.recorder, runtime_.recorder, runtime_.digest, runtime_.clock,
                     runtime_.entropy),
      turns_(runtime_.governor, continuations_,
             [this](const Call& call) { return upstream_for(call); }),
      offered_(parts_.tools.offered()) {
  report_.session_id = asker_.session_id;
  report_.run_id = asker_.run_id;
  report_.policy_hash = runtime_.plans.current()->hash();
}

std::uint64_t Run::ledger_size() {
  const auto moment = runtime_.recorder.moment({});
  return moment ? moment->size : 0;
}

Run::End Run::aborted(const Abort& abort) const {
  return {RunStatus::Aborted, abort.reason()};
}

Run::End Run::failed(std::string why) {
  return {RunStatus::Failed, core::abort_reason(core::AbortCause::Error, why)};
}

Run::Ended Run::check() {
  if (!parts_.lease.valid()) control_.end(core::AbortCause::LeaseLost, "the lease has run out");
  if (const std::optional<Abort> abort = control_.ended()) return aborted(*abort);
  return std::nullopt;
}

Task<void> Run::load() {
  struct Loaded {
    std::vector<sessions::Item> items;
    std::uint64_t revision = 0;
  };
  SALLYPORT_CO_TRY(
      Loaded loaded,
      co_await on_store(runtime_, [id = asker_.session_id](SessionStore& store) -> Result<Loaded> {
        Loaded loaded;
        SALLYPORT_TRY(loaded.items, store.items(id));
        SALLYPORT_TRY(const auto session, store.session(id));
        if (session) loaded.revision = session->revision;
        return loaded;
      }));
  items_ = std::move(loaded.items);
  revision_ = loaded.revision;
  co_return Result<void>{};
}

Task<void> Run::append(std::vector<NewItem> items, std::vector<std::string> noticed) {
  if (items.empty()) co_return Result<void>{};
  SALLYPORT_CO_TRY([[maybe_unused]] const std::uint64_t revision,
                   co_await on_store(runtime_, [lease = parts_.lease.lease(), items,
                                                noticed = std::move(noticed)](SessionStore& store) {
                     return store.append(lease, items, noticed);
                   }));
  for (NewItem& item : items) {
    items_.push_back({.index = items_.size(),
                      .revision = ++revision_,
                      .role = item.role,
                      .content = std::move(item.content),
                      .tool_call_id = std::move(item.tool_call_id)});
  }
  co_return Result<void>{};
}

Task<RunReport> Run::go(std::optional<std::string> message) {
  SALLYPORT_CO_CHECK_OK(co_await load());
  SALLYPORT_CO_TRY(const std::vector<sessions::Run> runs,
                   co_await on_store(
                       runtime_, [id = asker_.session_id](SessionStore& s) { return s.runs(id); }));
  if (!runs.empty()) before_ = runs.back();
  // A run that did not come to its end leaves the turn as it was.
  for (auto run = runs.rbegin(); run != runs.rend() && parked_.empty(); ++run) {
    if (run->status == RunStatus::Finished) break;
    parked_ = run->continuation;
  }
  if (!message && !waits_for_model(items_)) {
    co_return fail(
        ErrorCode::InvalidInput,
        fmt::format("session `{}` has nothing open; give it a message", asker_.session_id), {},
        "nothing_to_resume");
  }
  if (message) SALLYPORT_CO_CHECK_OK(co_await refuse_while_parked());
  SALLYPORT_CO_CHECK_OK(co_await begin());
  Ended ended = co_await pick_up(std::move(message));
  if (!ended) ended = co_await rounds();
  parts_.lease.listen({});
  co_return co_await end(std::move(*ended));
}

Task<void> Run::begin() {
  report_.first_sequence = ledger_size();
  const sessions::Run run{.id = asker_.run_id,
                          .session_id = asker_.session_id,
                          .agent_id = asker_.agent_id,
                          .instance_id = runtime_.recorder.instance_id(),
                          .trace_id = asker_.trace_id,
                          .status = RunStatus::Running,
                          .started_at = rfc3339(runtime_.clock.wall())};
  SALLYPORT_CO_CHECK_OK(
      co_await on_store(runtime_, [lease = parts_.lease.lease(), run](SessionStore& store) {
        return store.begin_run(lease, run);
      }));
  parts_.lease.listen(
      {.on_lost =
           [this](std::string why) { control_.end(core::AbortCause::LeaseLost, std::move(why)); },
       .on_request =
           [this](sessions::Request request) {
             if (request == sessions::Request::Stop) stopping_ = true;
             if (request == sessions::Request::Cancel) {
               control_.end(core::AbortCause::Cancelled, "by `agent cancel`");
             }
           }});
  co_return Result<void>{};
}

// Completes what earlier runs left open, then adds the message.
Async<Run::Ended> Run::pick_up(std::optional<std::string> message) {
  co_await make_up_ingest();
  Ended ended = co_await complete_history();
  if (ended && message) {
    runtime_.log(
        fmt::format("session {}: the new message is not stored; send it again", asker_.session_id));
  }
  if (ended || !message) co_return ended;
  const Result<void> appended = co_await append_prompt(*message);
  if (!appended) co_return failed(appended.error().message);
  co_return std::nullopt;
}

Async<Run::Ended> Run::complete_history() {
  if (std::optional<Continuation> parked = parked_turn()) {
    if (Ended ended = co_await resume_parked(std::move(*parked))) co_return ended;
  }
  co_return co_await complete_open_calls();
}

// In place of a blocked prompt the transcript has the notice, so that no later request sends the
// prompt (GR-56). The request of this run still refuses the prompt and records it.
Task<void> Run::append_prompt(const std::string& message) {
  sessions::NewItem item = user_message(message);
  if (const auto& guard = runtime_.plans.current()->stream_guard()) {
    const core::PassedText seen = guard->look_at(core::TextStage::Input, message, std::nullopt);
    if (seen.block) {
      refused_prompt_ = message;
      item = user_message(seen.block->notice.empty() ? "[refused]" : seen.block->notice);
    }
  }
  co_return co_await append({std::move(item)});
}

Async<Run::End> Run::rounds() {
  while (true) {
    if (stopping_) co_return End{};  // as finished, with what there is (EV-108)
    if (Ended ended = co_await round()) co_return std::move(*ended);
  }
}

Async<Run::Ended> Run::round() {
  if (Ended ended = check()) co_return ended;
  co_await run_proposals();
  co_await emit_notices();
  std::string recalled = co_await memory_.recall(last_user_text(items_), control_.stop());
  if (Ended ended = co_await compact_if_due()) co_return ended;
  co_return co_await ask_model(std::move(recalled));
}

// Adds each notice once and marks its task in the same transaction (RT-51).
Async<void> Run::emit_notices() {
  const Result<std::vector<sessions::BackgroundTask>> tasks = co_await on_store(
      runtime_,
      [id = asker_.session_id](SessionStore& store) { return store.unnoticed_tasks(id); });
  if (!tasks || tasks->empty()) co_return;
  std::vector<NewItem> items;
  std::vector<std::string> noticed;
  for (const sessions::BackgroundTask& task : *tasks) {
    items.push_back(notice_of(task));
    noticed.push_back(task.id);
  }
  const Result<void> appended = co_await append(std::move(items), std::move(noticed));
  if (!appended) runtime_.log("notices of tasks are not stored: " + appended.error().message);
}

Async<Run::Ended> Run::compact_if_due() {
  if (!compaction_.due(items_, input_tokens_)) co_return std::nullopt;
  const std::optional<Abort> abort =
      co_await compaction_.run(items_, revision_, [this] { return emit_notices(); });
  if (abort) co_return aborted(*abort);
  input_tokens_.reset();
  const Result<void> loaded = co_await load();
  if (!loaded) co_return failed(loaded.error().message);
  co_return std::nullopt;
}

Async<Run::Ended> Run::ask_model(std::string recalled) {
  ModelRequest request{.model = parts_.settings.model.model,
                       .system = parts_.settings.system,
                       .history = items_,
                       .recalled = std::move(recalled),
                       .tools = offered_,
                       .max_output_tokens = parts_.settings.model.max_output_tokens};
  if (Ended ended = check()) co_return ended;
  ++report_.rounds;
  if (const auto refused = std::exchange(refused_prompt_, std::nullopt)) {
    request.history.push_back(
        {.role = sessions::Role::User, .content = user_message(*refused).content});
  }
  const auto commit = [this](ModelAnswer& answer) -> Task<void> {
    if (const Ended ended = check()) {
      co_return fail(ErrorCode::Cancelled, ended->reason);
    }
    SALLYPORT_CO_CHECK_OK(co_await make_ids_unique(answer.calls));
    co_return co_await append({model_message(answer.text, answer.calls)});
  };
  ModelRound model_round(runtime_, parts_.model, control_, asker_,
                         {.retry = {.jitter = parts_.settings.retry_jitter},
                          .commit = commit,
                          .on_text = [this](std::string_view text) { parts_.view.text(text); }});
  std::expected<ModelAnswer, NoAnswer> answer = co_await model_round.run(std::move(request));
  parts_.view.text_ended();
  if (!answer) co_return co_await end_without_answer(std::move(answer.error()));
  report_.text = answer->text;
  input_tokens_ = answer->usage.input_tokens;
  std::string refused;
  Ended then;
  if (answer->at_limit) refused = "not run: the message was cut at its output limit";
  if (control_.tokens_used_up()) {
    then = aborted(control_.over_tokens());
    refused = "not run: " + then->reason;
  }
  if (!answer->calls.empty()) {
    Ended ended = co_await run_calls(std::move(answer->calls), std::move(refused));
    co_return then ? std::move(then) : std::move(ended);
  }
  co_return then ? std::move(then) : Ended(End{});
}

// If the answer was blocked, only the replacement enters the history (RT-18).
Async<Run::End> Run::end_without_answer(NoAnswer none) {
  if (none.abort) co_return aborted(*none.abort);
  if (none.block) {
    parts_.view.note(none.block->notice);
    report_.text = none.block->notice;
    const Result<void> appended = co_await append({model_message(none.block->notice, {})});
    if (!appended) runtime_.log("the notice is not in the transcript: " + appended.error().message);
    co_return failed(why_blocked(none));
  }
  co_return failed(none.error->message);
}

// Ingests a finished run that has no memory record yet (RT-61).
Async<void> Run::make_up_ingest() {
  if (!before_ || before_->status != RunStatus::Finished || items_.empty()) co_return;
  const Result<std::uint64_t> ingested = co_await on_store(
      runtime_,
      [id = asker_.session_id](SessionStore& store) { return store.ingested_revision(id); });
  if (!ingested || *ingested >= revision_) co_return;
  co_await memory_.ingest(revision_, last_user_text(items_), last_model_text(items_));
}

Async<RunReport> Run::end(End end) {
  const bool aborts = end.status == RunStatus::Failed || end.status == RunStatus::Aborted;
  if (aborts) {
    const Result<void> emitted = co_await emit_aborted(runtime_, asker_, end.reason);
    if (!emitted) runtime_.log("the end of the run is not recorded: " + emitted.error().message);
  }
  sessions::Run run{.id = asker_.run_id,
                    .session_id = asker_.session_id,
                    .agent_id = asker_.agent_id,
                    .instance_id = runtime_.recorder.instance_id(),
                    .trace_id = asker_.trace_id,
                    .status = end.status,
                    .reason = end.reason,
                    .ended_at = rfc3339(runtime_.clock.wall())};
  if (end.continuation) run.continuation = canonical_json(to_json(*end.continuation));
  // Without it, `agent resume` continues the calls one by one.
  if (run.continuation.size() > kContinuationBytes) run.continuation.clear();
  const Result<void> ended =
      co_await on_store(runtime_, [lease = parts_.lease.lease(), run](SessionStore& store) {
        return store.end_run(lease, run);
      });
  if (!ended) runtime_.log("the run is not ended in the store: " + ended.error().message);
  if (end.status == RunStatus::Finished) {
    co_await memory_.ingest(revision_, last_user_text(items_), last_model_text(items_));
  }
  report_.status = end.status;
  report_.reason = std::move(end.reason);
  report_.continuation = std::move(end.continuation);
  report_.tool_calls = control_.calls();
  report_.usage = control_.usage();
  const std::uint64_t size = ledger_size();
  report_.last_sequence = size > 0 ? size - 1 : 0;
  report_.first_sequence = std::min(report_.first_sequence, report_.last_sequence);
  co_return std::move(report_);
}

}  // namespace sallyport::agent
