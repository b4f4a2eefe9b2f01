// Sessions of our own agents: transcripts, runs, leases, background tasks and memory, in one SQLite
// file beside the ledger (RT-6). The ledger holds evidence; this file holds what a run needs to
// continue. A refused call does not change the file.
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

// Limits. Anything over a limit is refused with `Exhausted`.
inline constexpr std::size_t kItemBytes = 32 * 1024 * 1024;         // the content of one item
inline constexpr std::size_t kTranscriptBytes = 256 * 1024 * 1024;  // of one session
inline constexpr std::size_t kTranscriptItems = 100'000;            // of one session
inline constexpr std::size_t kTaskOutputBytes = 1024 * 1024;
inline constexpr std::size_t kMemoryBytes = 1024 * 1024;  // the text of one record
inline constexpr std::size_t kPins = 1000;                // of one agent
inline constexpr std::size_t kListed = 10'000;            // sessions; runs or tasks of a session
// The cause of the error that too many background commands run (RT-48).
inline constexpr const char* kTooManyTasks = "background_limit";
// The folder of snapshots, beside the file of the store.
inline constexpr std::string_view kSnapshotFolder = "transcripts";

// The right to write a session. Each `take_lease` raises the epoch. Writes with an older epoch or
// after the lease has expired are refused with `Conflict`, cause `lease_lost` (RT-80, RT-81).
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
  std::string continuation{};  // JSON if the run awaits an approval; else empty
  std::string started_at{};
  std::string ended_at{};  // empty: it is running
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
  std::string output{};  // the kept part
  std::uint64_t output_dropped = 0;
  bool noticed = false;  // the history has its notice (RT-51)
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

// Whose sessions an erasure covers: a session must match every member that is set.
struct Owner {
  std::optional<std::string> session_id{};
  std::optional<std::string> agent_id{};
};

// A request of another process to the process that works on a session.
enum class Request : std::uint8_t { None, Cancel, Stop };

// Blocks on the disk: call it from a pool. Any thread may call it. Operations run one at a time,
// but searches run beside the others. Each function is one transaction.
class SessionStore {
 public:
  struct Options {
    std::filesystem::path file{};  // created with mode 0600; empty: in memory
  };
  // `Corrupt` names the file, which is not changed (RT-93). `Unavailable`: it cannot be opened.
  static Result<std::unique_ptr<SessionStore>> open(Options options, const Clock& clock);
  virtual ~SessionStore() = default;

  // Leases. `dead` returns true if an instance is known to have ended, even if its lease is valid;
  // empty: none is known. Otherwise an instance is alive while it holds a valid lease, so keep the
  // lease while background tasks of the session run.
  using Dead = std::function<bool(const std::string& instance_id)>;
  // Creates the session if it does not exist. `Conflict`, cause `lease_unavailable`: another
  // instance, or an earlier call of this one, holds the lease; the message names the holder and the
  // end of its lease. `Conflict`, cause `other_agent`: the session belongs to another agent.
  virtual Result<Lease> take_lease(const std::string& session_id, const std::string& agent_id,
                                   const std::string& instance_id, std::chrono::seconds length,
                                   const Dead& dead) = 0;
  // An expired lease cannot be renewed: others may have closed what it protected.
  virtual Result<Lease> renew(const Lease& lease, std::chrono::seconds length) = 0;
  virtual Result<void> release(const Lease& lease) = 0;

  // Sessions.
  virtual Result<std::optional<Session>> session(const std::string& session_id) = 0;
  virtual Result<std::vector<Session>> sessions(std::size_t limit) = 0;  // the newest first
  // A request to the process that works on the session. The next `begin_run` clears it. A stop does
  // not replace a cancel. `NotFound`: there is no such session.
  virtual Result<void> request(const std::string& session_id, Request request) = 0;
  virtual Result<Request> requested(const std::string& session_id) = 0;

  // Runs.
  virtual Result<void> begin_run(const Lease& lease, const Run& run) = 0;
  // An aborted run is ended even under a lost lease, because nothing else ends it properly.
  // `Conflict`, cause `already_closed`: a recovery has closed it (RT-83).
  virtual Result<void> end_run(const Lease& lease, const Run& run) = 0;
  virtual Result<std::vector<Run>> runs(const std::string& session_id) = 0;  // the oldest first
  // Returns what instances left open that are dead or have an expired lease (RT-83).
  struct Left {
    std::vector<Run> runs{};
    std::vector<BackgroundTask> tasks{};
  };
  virtual Result<Left> left_behind(const Dead& dead) = 0;
  // Closes a run as `aborted` with this reason, or a task as `interrupted`, if it has not changed
  // since it was found. So two recoveries close nothing twice. True: this call closed it.
  virtual Result<bool> close_run(const Run& run, const std::string& reason) = 0;
  virtual Result<bool> close_task(const BackgroundTask& task) = 0;

  // Transcript. Each item raises the revision by one (RT-7). `noticed`: tasks with a notice
  // among the items; `Conflict`, cause `already_told`, if a task had a notice before (RT-51).
  virtual Result<std::uint64_t> append(const Lease& lease, std::span<const NewItem> items,
                                       std::span<const std::string> noticed = {}) = 0;
  // `Corrupt` names the file if an item differs from what was written.
  virtual Result<std::vector<Item>> items(const std::string& session_id) = 0;
  // The items of one moment as RT-8 lines without line ends, in order. Except for the index, the
  // bytes of an item never change, even after earlier items were compacted (RT-68).
  using OnLine = std::function<Result<void>(std::string_view line)>;
  virtual Result<void> lines(const std::string& session_id, const OnLine& on_line) = 0;
  // Writes the lines durably to a file (mode 0600) in `folder` (mode 0700) and returns its name.
  // The same revision gives the same file.
  virtual Result<std::string> snapshot(const Lease& lease, const std::filesystem::path& folder) = 0;
  // Removes snapshots of the session that are older than the last applied compaction, but keeps the
  // newest `keep` (RT-70). Returns how many it removed. Other files stay.
  virtual Result<std::size_t> prune_snapshots(const Lease& lease,
                                              const std::filesystem::path& folder,
                                              std::size_t keep) = 0;
  // Replaces items [0, replaced) by one summary if the revision is still `base_revision`. Leading
  // `system` items stay before it, later items keep their bytes, and indexes are renumbered. Raises
  // the revision by one and sets `length` to the new length. False: the revision has changed, and
  // nothing was replaced (RT-66).
  virtual Result<bool> compact(const Lease& lease, std::uint64_t base_revision,
                               std::size_t replaced, const NewItem& summary,
                               std::size_t& length) = 0;

  // Background tasks.
  // `Exhausted`, cause `kTooManyTasks`: `most` tasks of the agent run already, in all processes.
  virtual Result<void> begin_task(const Lease& lease, const BackgroundTask& task,
                                  std::uint64_t most) = 0;
  // Stores status, exit, output and time. `Conflict`, cause `already_closed`: it has ended before.
  virtual Result<void> end_task(const BackgroundTask& task) = 0;
  virtual Result<std::optional<BackgroundTask>> task(const std::string& agent_id,
                                                     const std::string& task_id) = 0;
  // The tasks of the session, the oldest first, without their output.
  virtual Result<std::vector<BackgroundTask>> tasks(const std::string& session_id) = 0;
  // Ended tasks of the session without a notice in the history, the oldest first.
  virtual Result<std::vector<BackgroundTask>> unnoticed_tasks(const std::string& session_id) = 0;

  // Memory.
  // Stores the record and its source revision in one transaction. 0: that revision or a later one
  // was ingested before (RT-60).
  virtual Result<std::size_t> ingest(const std::string& session_id, std::uint64_t revision,
                                     const MemoryRecord& record) = 0;
  virtual Result<std::uint64_t> ingested_revision(const std::string& session_id) = 0;
  // Quotes the words and joins them by OR. The best rank comes first, the newer record on a tie
  // (RT-54). Finds only records of this agent. `Deadline` or `Cancelled`: it was interrupted.
  virtual Result<std::vector<MemoryRecord>> search(const std::string& agent_id,
                                                   const std::string& query, std::size_t limit,
                                                   std::chrono::milliseconds timeout,
                                                   std::stop_token cancel) = 0;
  // `Conflict`: the id is taken.
  virtual Result<void> pin(const MemoryRecord& record) = 0;
  virtual Result<bool> forget(const std::string& agent_id, const std::string& record_id) = 0;

  // Erasure.
  // How many sessions `owner` has. `Conflict`, cause `lease_unavailable`: a process works on one.
  virtual Result<std::size_t> idle_sessions(const Owner& owner) = 0;
  // Removes these sessions with transcript, runs, background commands and episodes of memory, and
  // their snapshots in `folder`. Without a session in `owner`: also everything else that the agent
  // remembers. On success no file of the store holds what was removed. Returns how many sessions
  // it removed. `Unavailable`, cause `busy`: they are removed, but a reader keeps the old log.
  virtual Result<std::size_t> erase(const Owner& owner, const std::filesystem::path& folder) = 0;
};

}  // namespace sallyport::sessions
