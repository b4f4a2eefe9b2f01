#include "agent/tool/background_tasks.h"

#include <fmt/format.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "agent/tool/own_tool.h"
#include "agent/tool/redacted_text.h"
#include "base/cut_text.h"
#include "base/on_pool.h"
#include "base/try.h"
#include "base/uuid.h"

namespace sallyport::agent {

namespace asio = boost::asio;
using sessions::BackgroundTask;
using sessions::TaskStatus;

namespace {

constexpr std::size_t kEventText = 4096;  // of a command or a folder in an event
constexpr std::chrono::seconds kLongestStop{5};

constexpr auto kNever = asio::steady_timer::time_point::max();

event::TaskStatus event_status(TaskStatus status) {
  switch (status) {
    case TaskStatus::Finished:
      return event::TaskStatus::Finished;
    case TaskStatus::Interrupted:
      return event::TaskStatus::Interrupted;
    case TaskStatus::Failed:
    case TaskStatus::Running:
      break;
  }
  return event::TaskStatus::Failed;
}

TaskStatus status_of(const CommandEnd& end) {
  if (end.why == CommandEnd::Why::Stopped) return TaskStatus::Interrupted;
  const bool good = end.why == CommandEnd::Why::Itself && end.exit_code == 0;
  return good ? TaskStatus::Finished : TaskStatus::Failed;
}

Async<void> rings(asio::steady_timer& bell) {
  boost::system::error_code ignored;
  co_await bell.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace

BackgroundTasks::Running::Running(const asio::any_io_executor& executor, BackgroundTask begun_row,
                                  Subject of)
    : row(std::move(begun_row)),
      subject(std::move(of)),
      begun(executor, kNever),
      done(executor, kNever) {}

void BackgroundTasks::Running::stop() {
  stopped = true;
  if (command) command->stop();
}

BackgroundTasks::BackgroundTasks(SharedContext context,
                                 std::shared_ptr<const CommandSetting> setting)
    : context_(std::move(context)),
      setting_(std::move(setting)),
      group_(context_->parts.executor, [this](std::string_view line) { log(std::string(line)); }) {}

Task<std::string> BackgroundTasks::start(Call call, std::string command, Found folder) {
  if (closed_) co_return fail(ErrorCode::Unavailable, "the agent is ending");
  const ToolParts& parts = context_->parts;
  const auto task =
      std::make_shared<Running>(parts.executor,
                                BackgroundTask{.id = uuid7_text(parts.clock, parts.entropy),
                                               .session_id = call.session_id,
                                               .agent_id = call.agent_id,
                                               .run_id = call.run_id,
                                               .call_id = call.call_id,
                                               .trace_id = call.trace_id,
                                               .instance_id = parts.instance_id,
                                               .command = std::move(command),
                                               .cwd = folder.path,
                                               .started_at = rfc3339(parts.clock.wall())},
                                subject_of(call));
  // A caller that leaves must not leave a row without an end, so another coroutine does the work.
  group_.start(work(shared_from_this(), task, std::move(folder)));
  struct Waits {
    SharedRunning task;
    ~Waits() {
      if (!task->has_begun) task->stop();
    }
  };
  const Waits waits{task};
  while (!task->has_begun) co_await rings(task->begun);
  if (task->error) co_return std::unexpected(*task->error);
  co_return task->row.id;
}

Async<void> BackgroundTasks::work(Self self, SharedRunning task, Found folder) {
  const Result<void> begun = co_await self->begin(task, std::move(folder));
  if (!begun) task->error = begun.error();
  task->has_begun = true;
  task->begun.cancel();
  if (begun) {
    const CommandEnd end =
        co_await task->command->run(self->context_->settings.background.max_runtime);
    task->row.exit_code = end.exit_code;
    task->row.signal = end.signal;
    task->row.output = task->command->output().text;
    task->row.output_dropped = task->command->output().dropped;
    co_await self->end(task, status_of(end), true);
  }
  self->running_.erase(task->row.id);
  task->is_done = true;
  task->done.cancel();
}

// RT-47.
Task<void> BackgroundTasks::begin(SharedRunning task, Found folder) {
  SALLYPORT_CO_CHECK_OK(co_await write_row(task));
  running_.emplace(task->row.id, task);
  const Result<void> emitted = co_await context_->parts.events.emit(
      event::BackgroundTaskStarted{
          .agent_id = task->row.agent_id,
          .task_id = task->row.id,
          // No detector would recognise half a secret.
          .command = cut_whole_words(redacted_text(context_->parts.redactor, task->row.command),
                                     kEventText),
          .cwd = cut_utf8_bytes(task->row.cwd, kEventText)},
      task->subject);
  if (!emitted) {
    co_await end(task, TaskStatus::Failed, false);
    co_return emitted;
  }
  if (task->stopped || closed_) {
    co_await end(task, TaskStatus::Interrupted, true);
    co_return fail(ErrorCode::Cancelled, "cancelled");
  }
  Result<std::shared_ptr<RunningCommand>> command =
      RunningCommand::start(context_->parts.executor, {.command = task->row.command,
                                                       .folder = folder.handle.get(),
                                                       .environment = setting_->environment(),
                                                       .cage = setting_->sandbox().cage(),
                                                       .kept = sessions::kTaskOutputBytes,
                                                       .one_stream = true});
  if (!command) {
    co_await end(task, TaskStatus::Failed, true);
    co_return std::unexpected(command.error());
  }
  task->command = std::move(*command);
  co_return Result<void>();
}

Task<void> BackgroundTasks::write_row(SharedRunning task) {
  co_return co_await on_pool<Result<void>>(
      context_->parts.pool,
      [context = context_, row = task->row, lease = context_->parts.lease()]() -> Result<void> {
        return context->parts.store.begin_task(lease, row,
                                               context->settings.background.max_running);
      });
}

Async<void> BackgroundTasks::end(SharedRunning task, TaskStatus status, bool announced) {
  task->row.status = status;
  task->row.ended_at = rfc3339(context_->parts.clock.wall());
  const Result<void> written = co_await on_pool<Result<void>>(
      context_->parts.pool,
      [context = context_, row = task->row] { return context->parts.store.end_task(row); });
  if (!written) {
    // The next start finds the task open and closes it with its event.
    log(fmt::format("the end of task `{}` is not written: {}", task->row.id,
                    written.error().message));
    co_return;
  }
  if (!announced) co_return;
  const Result<void> emitted = co_await context_->parts.events.emit(
      event::BackgroundTaskFinished{
          .agent_id = task->row.agent_id, .task_id = task->row.id, .status = event_status(status)},
      task->subject);
  if (!emitted) log(fmt::format("the end of task `{}`: {}", task->row.id, emitted.error().message));
}

Task<std::optional<BackgroundTask>> BackgroundTasks::look(std::string agent_id,
                                                          std::string task_id) {
  const auto found = running_.find(task_id);
  if (found != running_.end() && found->second->row.agent_id == agent_id) {
    BackgroundTask seen = found->second->row;
    // An end that is still being written does not count yet.
    seen.status = TaskStatus::Running;
    seen.exit_code.reset();
    seen.signal.reset();
    if (const auto& command = found->second->command) {
      seen.output = command->output().text;
      seen.output_dropped = command->output().dropped;
    }
    co_return seen;
  }
  using Found = Result<std::optional<BackgroundTask>>;
  co_return co_await on_pool<Found>(context_->parts.pool, [context = context_, agent_id, task_id] {
    return context->parts.store.task(agent_id, task_id);
  });
}

Task<std::optional<BackgroundTask>> BackgroundTasks::stop(std::string agent_id,
                                                          std::string task_id) {
  const auto found = running_.find(task_id);
  if (found != running_.end() && found->second->row.agent_id == agent_id) {
    const SharedRunning task = found->second;
    task->stop();
    while (!task->is_done) co_await rings(task->done);
  }
  co_return co_await look(agent_id, task_id);
}

Async<void> BackgroundTasks::stop_all() {
  closed_ = true;
  const Self self = shared_from_this();
  for (const auto& [id, task] : self->running_) task->stop();
  if (!co_await self->group_.join(kLongestStop)) self->log("background commands do not end");
}

void BackgroundTasks::log(const std::string& line) const {
  if (context_->parts.log) context_->parts.log(line);
}

}  // namespace sallyport::agent
