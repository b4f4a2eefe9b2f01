#include "agent/run/recovery.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "core/event/abort_reason.h"
#include "core/record/retired_facts.h"
#include "proxy/record.h"

namespace sallyport::agent {

namespace {

constexpr std::string_view kAborted = "agent_run";
constexpr std::chrono::hours kMarkedFor{24};  // far longer than a recovery takes

// Refuses if the run already has its event.
class Once final : public core::FactChange {
 public:
  Once(std::string run_id, WallTime at) : run_id_(std::move(run_id)), at_(at) {}
  Result<std::vector<core::Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const auto before, stored(kAborted, run_id_));
    if (before) return fail(ErrorCode::Exhausted, "the run has its end");
    return std::vector<core::Fact>{
        {std::string(kAborted), run_id_,
         canonical_json(json::object{{"at", rfc3339(at_)}, {"state", "aborted"}})}};
  }

 private:
  std::string run_id_;
  WallTime at_;
};

Task<void> close_task(RuntimeParts& parts, sessions::BackgroundTask task) {
  SALLYPORT_CO_TRY(const bool closed,
                   co_await on_store(parts, [task](sessions::SessionStore& store) {
                     return store.close_task(task);
                   }));
  if (!closed) co_return Result<void>{};
  const Subject subject{.call_id = task.call_id,
                        .session_id = task.session_id,
                        .agent_id = task.agent_id,
                        .trace_id = task.trace_id,
                        .run_id = task.run_id};
  // The ledger closes what its own dead instances left; then this one finds nothing open.
  (void)co_await parts.events.emit(
      event::BackgroundTaskFinished{
          .agent_id = task.agent_id, .task_id = task.id, .status = event::TaskStatus::Interrupted},
      subject);
  co_return Result<void>{};
}

}  // namespace

Task<void> emit_aborted(RuntimeParts& parts, const Asker& asker, const std::string& reason) {
  core::BesideEvent beside;
  beside.changes.push_back(std::make_shared<const Once>(asker.run_id, parts.clock.wall()));
  const Result<void> emitted =
      co_await parts.events.emit(event::RunAborted{.agent_id = asker.agent_id, .reason = reason},
                                 asker.subject(parts.plans.current()->hash()), std::move(beside));
  if (!emitted && emitted.error().code != ErrorCode::Exhausted) co_return emitted;
  co_return Result<void>{};
}

Task<void> close_left_behind(RuntimeParts& parts) {
  SALLYPORT_CO_CHECK_OK(co_await proxy::close_lost_requests(parts.recorder));
  core::Recorder& recorder = parts.recorder;
  SALLYPORT_CO_TRY(const sessions::SessionStore::Left left,
                   co_await on_store(parts, [&recorder](sessions::SessionStore& store) {
                     return store.left_behind([&recorder](const std::string& instance) {
                       return !recorder.alive(instance);
                     });
                   }));
  for (const sessions::BackgroundTask& task : left.tasks) {
    SALLYPORT_CO_CHECK_OK(co_await close_task(parts, task));
  }
  const std::string reason =
      core::abort_reason(core::AbortCause::Interrupted, "the process ended before the run did");
  for (const sessions::Run& run : left.runs) {
    const Asker asker{run.agent_id, run.session_id, run.id, run.trace_id};
    SALLYPORT_CO_CHECK_OK(co_await emit_aborted(parts, asker, reason));
    SALLYPORT_CO_TRY([[maybe_unused]] const bool closed,
                     co_await on_store(parts, [run, reason](sessions::SessionStore& store) {
                       return store.close_run(run, reason);
                     }));
  }
  // A closed run is not found again, so its mark is no longer needed.
  co_return co_await core::retire_facts(recorder, {{std::string(kAborted), kMarkedFor}},
                                        parts.clock.wall());
}

}  // namespace sallyport::agent
