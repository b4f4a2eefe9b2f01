#include "agent/run/run.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <span>

#include "agent/run/recovery.h"
#include "base/encoding.h"
#include "base/try.h"
#include "base/uuid.h"

namespace sallyport::agent {

using sessions::NewItem;
using sessions::RunStatus;
using sessions::SessionStore;

namespace {

std::string fresh_trace(Entropy& entropy) {
  std::array<std::uint8_t, 16> bytes{};
  entropy.fill(bytes);
  return hex(std::span<const std::uint8_t>(bytes));
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value() : json::value(text);
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
      asker_{parts_.settings.id, parts_.hold.session_id(),
             uuid7_text(runtime_.clock, runtime_.entropy), fresh_trace(runtime_.entropy)},
      control_(parts_.settings.limits, runtime_.clock, runtime_.executor, std::move(cancel)),
      memory_(runtime_, parts_.settings.memory, asker_),
      compaction_({runtime_, parts_.settings, parts_.model, control_, parts_.hold, asker_}),
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
  if (!parts_.hold.valid()) control_.end(core::AbortCause::LeaseLost, "the lease has run out");
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

Task<void> Run::append(std::vector<NewItem> items, std::vector<std::string> told) {
  if (items.empty()) co_return Result<void>{};
  SALLYPORT_CO_TRY([[maybe_unused]] const std::uint64_t revision,
                   co_await on_store(runtime_, [lease = parts_.hold.lease(), items,
                                                told = std::move(told)](SessionStore& store) {
                     return store.append(lease, items, told);
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
  if (!message && !waits_for_model(items_)) {
    co_return fail(
        ErrorCode::InvalidInput,
        fmt::format("session `{}` has nothing open; give it a message", asker_.session_id), {},
        "nothing_to_resume");
  }
  SALLYPORT_CO_CHECK_OK(co_await begin());
  Ended ended = co_await pick_up(std::move(message));
  if (!ended) ended = co_await rounds();
  parts_.hold.listen({});
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
      co_await on_store(runtime_, [lease = parts_.hold.lease(), run](SessionStore& store) {
        return store.begin_run(lease, run);
      }));
  parts_.hold.listen(
      {.lost =
           [this](std::string why) { control_.end(core::AbortCause::LeaseLost, std::move(why)); },
       .asked =
           [this](sessions::Request request) {
             if (request == sessions::Request::Stop) stopping_ = true;
             if (request == sessions::Request::Cancel) {
               control_.end(core::AbortCause::Cancelled, "by `agent cancel`");
             }
           }});
  co_return Result<void>{};
}

// What earlier runs left open comes first, then the message.
Async<Run::Ended> Run::pick_up(std::optional<std::string> message) {
  co_await make_up_ingest();
  if (before_ && before_->status == RunStatus::AwaitingApproval && !open_calls(items_).empty()) {
    const auto continuation = continuation_from_text(before_->continuation);
    if (continuation) {
      if (Ended ended = co_await resume_parked(*continuation)) co_return ended;
    }
  }
  if (Ended ended = co_await complete_open_calls()) co_return ended;
  if (!message) co_return std::nullopt;
  const Result<void> appended = co_await append({said_by_user(*message)});
  if (!appended) co_return failed(appended.error().message);
  co_return std::nullopt;
}

Async<Run::End> Run::rounds() {
  while (true) {
    if (stopping_) co_return End{};  // as finished, with what there is (EV-108)
    if (Ended ended = co_await round()) co_return std::move(*ended);
  }
}

Async<Run::Ended> Run::round() {
  if (Ended ended = check()) co_return ended;
  co_await tell_notices();
  std::string recalled = co_await memory_.recall(last_user_text(items_), control_.stop());
  if (Ended ended = co_await compact_if_due()) co_return ended;
  co_return co_await ask_model(std::move(recalled));
}

// RT-51: each notice once, with the rows that say so.
Async<void> Run::tell_notices() {
  const Result<std::vector<sessions::BackgroundTask>> tasks = co_await on_store(
      runtime_, [id = asker_.session_id](SessionStore& store) { return store.untold_tasks(id); });
  if (!tasks || tasks->empty()) co_return;
  std::vector<NewItem> items;
  std::vector<std::string> told;
  for (const sessions::BackgroundTask& task : *tasks) {
    items.push_back(notice_of(task));
    told.push_back(task.id);
  }
  const Result<void> appended = co_await append(std::move(items), std::move(told));
  if (!appended) runtime_.log("notices of tasks wait: " + appended.error().message);
}

Async<Run::Ended> Run::compact_if_due() {
  if (!compaction_.due(items_, input_tokens_)) co_return std::nullopt;
  const std::optional<Abort> abort =
      co_await compaction_.run(items_, revision_, [this] { return tell_notices(); });
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
  const auto commit = [this](const ModelAnswer& answer) -> Task<void> {
    if (const Ended ended = check()) {
      co_return fail(ErrorCode::Cancelled, ended->reason);
    }
    co_return co_await append({said_by_model(answer.text, answer.calls)});
  };
  ModelExchange exchange(runtime_, parts_.model, control_, asker_,
                         {.retry = {.jitter = parts_.settings.retry_jitter},
                          .commit = commit,
                          .on_text = [this](std::string_view text) { parts_.view.text(text); }});
  std::expected<ModelAnswer, NoAnswer> answer = co_await exchange.run(std::move(request));
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

// Of a blocked answer only the replacement enters history (RT-18).
Async<Run::End> Run::end_without_answer(NoAnswer none) {
  if (none.abort) co_return aborted(*none.abort);
  if (none.block) {
    parts_.view.note(none.block->notice);
    report_.text = none.block->notice;
    const Result<void> appended = co_await append({said_by_model(none.block->notice, {})});
    if (!appended) runtime_.log("the notice is not in the transcript: " + appended.error().message);
    co_return failed(fmt::format("`{}`: {}", none.block->check, none.block->reason));
  }
  co_return failed(none.error->message);
}

// A run that finished, and whose record was cut off (RT-61).
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
    const Result<void> told = co_await tell_aborted(runtime_, asker_, end.reason);
    if (!told) runtime_.log("the end of the run is owed to the ledger: " + told.error().message);
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
  const Result<void> ended =
      co_await on_store(runtime_, [lease = parts_.hold.lease(), run](SessionStore& store) {
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
  co_return std::move(report_);
}

}  // namespace sallyport::agent
