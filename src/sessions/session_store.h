// Sessions of our own agents: transcripts, runs, leases, background tasks and memory, in one SQLite
// file beside the ledger (RT-6). The ledger holds evidence; this file holds what a run needs to go
// on. A call that is refused leaves the file as it was.
//
//   auto store = *SessionStore::open({.file = data_dir / "agents.db"}, clock);
//   Lease lease = *store->take_lease("s-1", "writer", instance_id, 30s, {});
//   store->append(lease, {{.role = Role::User, .content = {...}}});
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sallyport/result.h"
#include "sessions/item.h"

namespace sallyport::sessions {

// Larger or more of it is refused with `Exhausted`.
inline constexpr std::size_t kItemBytes = 32 * 1024 * 1024;         // the content of one item
inline constexpr std::size_t kTranscriptBytes = 256 * 1024 * 1024;  // of one session
inline constexpr std::size_t kTranscriptItems = 100'000;            // of one session
inline constexpr std::size_t kTaskOutputBytes = 1024 * 1024;
inline constexpr std::size_t kMemoryBytes = 1024 * 1024;  // the text of one record
inline constexpr std::size_t kPins = 1000;                // of one agent
inline constexpr std::size_t kListed = 10'000;            // sessions; runs or tasks of a session
// The cause of an error that says that too many background commands run (RT-48).
inline constexpr const char* kTooManyTasks = "background_limit";

// The right to write a session. Each take-over raises the epoch. Writes of an older epoch, or after
// the lease has run out, are refused with `Conflict`, cause `lease_lost` (RT-80, RT-81).
struct Lease {
  std::string session_id{};
  std::string instance_id{};
  std::uint64_t epoch = 0;
  WallTime expires_at{};
};

struct Session {
  std::string id{};
  std::string agent_id{};
  std::uint64_t revision = 0;
  std::uint64_t items = 0;
  std::string created_at{};
  std::string updated_at{};
};

enum class RunStatus : std::uint8_t { Running, Finished, Failed, Aborted, AwaitingApproval };
std::string_view to_string(RunStatus status);
std::optional<RunStatus> run_status_from(std::string_view word);

struct Run {
  std::string id{};
  std::string session_id{};
  std::string agent_id{};
  std::string instance_id{};
  std::string trace_id{};
  RunStatus status = RunStatus::Running;
  std::string reason{};
  std::string continuation{};  // of a run that awaits an approval: JSON; else empty
  std::string started_at{};
  std::string ended_at{};  // empty: it runs
};

enum class TaskStatus : std::uint8_t { Running, Finished, Failed, Interrupted };
std::string_view to_string(TaskStatus status);
std::optional<TaskStatus> task_status_from(std::string_view word);

// A background command.
struct BackgroundTask {
  std::string id{};
  std::string session_id{};
  std::string agent_id{};
  std::string run_id{};
  std::string call_id{};
  std::string trace_id{};
  std::string instance_id{};
  std::string command{};
  std::string cwd{};
  TaskStatus status = TaskStatus::Running;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::string output{};  // as far as it was kept
  std::uint64_t output_dropped = 0;
  bool noticed = false;  // history has its notice (RT-51)
  std::string started_at{};
  std::string ended_at{};
};

struct MemoryRecord {
  std::string id{};  // `episode:<agent>:<session>:<revision>`, `pin:<uuid>`
  std::string agent_id{};
  std::string text{};
  bool pinned = false;
  std::string created_at{};
};

// Of another process, for the one that works on a session.
enum class Request : std::uint8_t { None, Cancel, Stop };

// Blocks on the disk: call it from a pool. Any thread; one operation at a time, but searches run
// beside the others. Each function is one transaction.
class SessionStore {
 public:
  struct Options {
    std::filesystem::path file{};  // made with mode 0600; empty: in memory
  };
  // `Corrupt` names the file, which is left as it is (RT-93). `Unavailable`: it cannot be opened.
  static Result<std::unique_ptr<SessionStore>> open(Options options, const Clock& clock);
  virtual ~SessionStore() = default;

  // Leases. `dead` says whether an instance is known to have ended, whatever its lease says; empty:
  // no instance is. An instance lives as long as it holds a lease that has not run out: keep the
  // lease while background tasks of the session run.
  using Dead = std::function<bool(const std::string& instance_id)>;
  // Makes the session where there is none. `Conflict`, cause `lease_unavailable`: another instance
  // works on it, or the same one by an earlier call; the message names the holder and when its
  // lease ends. `Conflict`, cause `other_agent`: the session belongs to another agent.
  virtual Result<Lease> take_lease(const std::string& session_id, const std::string& agent_id,
                                   const std::string& instance_id, std::chrono::seconds length,
                                   const Dead& dead) = 0;
  // Not once it has run out: others may have closed what it protected.
  virtual Result<Lease> renew(const Lease& lease, std::chrono::seconds length) = 0;
  virtual Result<void> release(const Lease& lease) = 0;

  // Sessions.
  virtual Result<std::optional<Session>> session(const std::string& session_id) = 0;
  virtual Result<std::vector<Session>> sessions(std::size_t limit) = 0;  // the newest first
  // What another process asks of the one that works on it. Gone with the next `begin_run`. A stop
  // does not take a cancel back. `NotFound`: there is no such session.
  virtual Result<void> request(const std::string& session_id, Request request) = 0;
  virtual Result<Request> requested(const std::string& session_id) = 0;

  // Runs.
  virtual Result<void> begin_run(const Lease& lease, const Run& run) = 0;
  // A run that is aborted is ended also under a lost lease, since no one else ends it in order.
  // `Conflict`, cause `already_closed`: a recovery has closed it (RT-83).
  virtual Result<void> end_run(const Lease& lease, const Run& run) = 0;
  virtual Result<std::vector<Run>> runs(const std::string& session_id) = 0;  // the oldest first
  // What instances left whose lease has run out, or that are dead (RT-83).
  struct Left {
    std::vector<Run> runs{};
    std::vector<BackgroundTask> tasks{};
  };
  virtual Result<Left> left_behind(const Dead& dead) = 0;
  // Closes them: runs `aborted` with this reason, tasks `interrupted`. Each only where it is still
  // as it was found, so two recoveries close nothing twice. True: it was closed here.
  virtual Result<bool> close_run(const Run& run, const std::string& reason) = 0;
  virtual Result<bool> close_task(const BackgroundTask& task) = 0;

  // Transcript. Each item raises the revision by one (RT-7). `told`: tasks whose notices are among
  // the items; `Conflict`, cause `already_told`, where one was told before (RT-51).
  virtual Result<std::uint64_t> append(const Lease& lease, std::span<const NewItem> items,
                                       std::span<const std::string> told = {}) = 0;
  // `Corrupt` names the file where an item is not what was written.
  virtual Result<std::vector<Item>> items(const std::string& session_id) = 0;
  // The items as RT-8 lines without their line ends, in order, of one moment. The bytes of an item
  // but its index are those of its first export, whatever was compacted before it (RT-68).
  using OnLine = std::function<Result<void>(std::string_view line)>;
  virtual Result<void> lines(const std::string& session_id, const OnLine& on_line) = 0;
  // The lines, written durably to a file (mode 0600) in `folder` (mode 0700); gives its name. Of
  // the same revision it is the same file.
  virtual Result<std::string> snapshot(const Lease& lease, const std::filesystem::path& folder) = 0;
  // Removes snapshots of the session but the newest `keep`, and of those only what is older than
  // the last compaction that was applied (RT-70). Gives how many. Other files stay.
  virtual Result<std::size_t> prune_snapshots(const Lease& lease,
                                              const std::filesystem::path& folder,
                                              std::size_t keep) = 0;
  // Replaces items [0, replaced) by one summary where the revision is still that one; `system`
  // items at the beginning stay before it, and later items keep their bytes. Indexes are counted
  // anew. False: it has moved, and nothing changed (RT-66). Raises the revision by one. Gives the
  // new length through `length`.
  virtual Result<bool> compact(const Lease& lease, std::uint64_t base_revision,
                               std::size_t replaced, const NewItem& summary,
                               std::size_t& length) = 0;

  // Background tasks.
  // `Exhausted`, cause `kTooManyTasks`: so many of the agent run already, in whichever processes.
  virtual Result<void> begin_task(const Lease& lease, const BackgroundTask& task,
                                  std::uint64_t most) = 0;
  // Status, exit, output, time. `Conflict`, cause `already_closed`: it has ended before.
  virtual Result<void> end_task(const BackgroundTask& task) = 0;
  virtual Result<std::optional<BackgroundTask>> task(const std::string& agent_id,
                                                     const std::string& task_id) = 0;
  virtual Result<std::size_t> running_tasks(const std::string& agent_id) = 0;
  // Of the session, the oldest first, without their output.
  virtual Result<std::vector<BackgroundTask>> tasks(const std::string& session_id) = 0;
  // Of the session, ended and not yet told, the oldest first.
  virtual Result<std::vector<BackgroundTask>> untold_tasks(const std::string& session_id) = 0;

  // Memory.
  // Stores the record and the revision it was made from in one transaction. 0: that revision, or a
  // later one, was ingested before (RT-60).
  virtual Result<std::size_t> ingest(const std::string& session_id, std::uint64_t revision,
                                     const MemoryRecord& record) = 0;
  virtual Result<std::uint64_t> ingested_revision(const std::string& session_id) = 0;
  // Words are quoted and joined by OR; the best rank first, the newer first on a tie (RT-54). Only
  // records of this agent. `Deadline`: it took longer, and was interrupted. `Cancelled`.
  virtual Result<std::vector<MemoryRecord>> search(const std::string& agent_id,
                                                   const std::string& query, std::size_t limit,
                                                   std::chrono::milliseconds timeout,
                                                   std::stop_token cancel) = 0;
  // `Conflict`: the id is taken.
  virtual Result<void> pin(const MemoryRecord& record) = 0;
  virtual Result<bool> forget(const std::string& agent_id, const std::string& record_id) = 0;
};

}  // namespace sallyport::sessions
