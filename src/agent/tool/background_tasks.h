// Commands that run while the agent continues (RT-46..RT-53). Each has a row in the store, a pair
// of events and a watcher that records its end.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/tool/command_setting.h"
#include "agent/tool/running_command.h"
#include "agent/tool/tool_context.h"
#include "net/task_group.h"

namespace sallyport::agent {

// Shared by the tools and by its own coroutines. Use it on the executor of the toolbox.
class BackgroundTasks : public std::enable_shared_from_this<BackgroundTasks> {
 public:
  BackgroundTasks(SharedContext context, std::shared_ptr<const CommandSetting> setting);
  BackgroundTasks(const BackgroundTasks&) = delete;

  // Writes the row, emits the event and starts the process, in this order. Returns the id when the
  // process runs. No process runs after the caller left. `Exhausted`: too many tasks run.
  Task<std::string> start(Call call, std::string command, Found folder);

  // Returns the task with its output so far. No value: this agent has no such task.
  Task<std::optional<sessions::BackgroundTask>> look(std::string agent_id, std::string task_id);

  // Ends the task as `interrupted` if it runs, and returns how it ended. No value: as `look`.
  Task<std::optional<sessions::BackgroundTask>> stop(std::string agent_id, std::string task_id);

  // Ends all tasks within 5 s. No task can be started afterwards.
  Async<void> stop_all();

 private:
  struct Running {
    Running(const boost::asio::any_io_executor& executor, sessions::BackgroundTask row,
            Subject subject);
    void stop();

    sessions::BackgroundTask row;
    const Subject subject;
    std::shared_ptr<RunningCommand> command{};  // shared with its readers; null: not spawned yet
    boost::asio::steady_timer begun;            // cancelled when the task runs or failed to start
    boost::asio::steady_timer done;             // cancelled when the end is recorded
    bool has_begun = false;
    bool is_done = false;
    bool stopped = false;
    std::optional<Error> error{};  // why it does not run
  };
  // Shared by the caller that waits and the coroutine that works.
  using SharedRunning = std::shared_ptr<Running>;
  using Self = std::shared_ptr<BackgroundTasks>;  // of a coroutine, which keeps it alive

  static Async<void> work(Self self, SharedRunning task, Found folder);
  Task<void> begin(SharedRunning task, Found folder);
  Task<void> write_row(SharedRunning task);
  Async<void> end(SharedRunning task, sessions::TaskStatus status, bool announced);
  void log(const std::string& line) const;

  const SharedContext context_;
  const std::shared_ptr<const CommandSetting> setting_;
  std::map<std::string, SharedRunning> running_;
  net::TaskGroup group_;
  bool closed_ = false;
};

}  // namespace sallyport::agent
