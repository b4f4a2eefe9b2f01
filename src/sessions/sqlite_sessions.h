// The session store over SQLite. Its functions are in five files: leases, runs and requests;
// transcripts; tasks; memory; erasure.
#pragma once

#include <memory>

#include "sessions/database.h"
#include "sessions/session_store.h"

namespace sallyport::sessions {

class SqliteSessions final : public SessionStore {
 public:
  SqliteSessions(std::unique_ptr<Database> database, const Clock& clock)
      : database_(std::move(database)), clock_(clock) {}

  Result<Lease> take_lease(const std::string& session_id, const std::string& agent_id,
                           const std::string& instance_id, std::chrono::seconds length,
                           const Dead& dead) override;
  Result<Lease> renew(const Lease& lease, std::chrono::seconds length) override;
  Result<void> release(const Lease& lease) override;

  Result<std::optional<Session>> session(const std::string& session_id) override;
  Result<std::vector<Session>> sessions(std::size_t limit) override;
  Result<void> request(const std::string& session_id, Request request) override;
  Result<Request> requested(const std::string& session_id) override;

  Result<void> begin_run(const Lease& lease, const Run& run) override;
  Result<void> end_run(const Lease& lease, const Run& run) override;
  Result<std::vector<Run>> runs(const std::string& session_id) override;
  Result<Left> left_behind(const Dead& dead) override;
  Result<bool> close_run(const Run& run, const std::string& reason) override;
  Result<bool> close_task(const BackgroundTask& task) override;

  Result<std::uint64_t> append(const Lease& lease, std::span<const NewItem> items,
                               std::span<const std::string> noticed) override;
  Result<std::vector<Item>> items(const std::string& session_id) override;
  Result<void> lines(const std::string& session_id, const OnLine& on_line) override;
  Result<std::string> snapshot(const Lease& lease, const std::filesystem::path& folder) override;
  Result<std::size_t> prune_snapshots(const Lease& lease, const std::filesystem::path& folder,
                                      std::size_t keep) override;
  Result<bool> compact(const Lease& lease, std::uint64_t base_revision, std::size_t replaced,
                       const NewItem& summary, std::size_t& length) override;

  Result<void> begin_task(const Lease& lease, const BackgroundTask& task,
                          std::uint64_t most) override;
  Result<void> end_task(const BackgroundTask& task) override;
  Result<std::optional<BackgroundTask>> task(const std::string& agent_id,
                                             const std::string& task_id) override;
  Result<std::vector<BackgroundTask>> tasks(const std::string& session_id) override;
  Result<std::vector<BackgroundTask>> unnoticed_tasks(const std::string& session_id) override;

  Result<std::size_t> ingest(const std::string& session_id, std::uint64_t revision,
                             const MemoryRecord& record) override;
  Result<std::uint64_t> ingested_revision(const std::string& session_id) override;
  Result<std::vector<MemoryRecord>> search(const std::string& agent_id, const std::string& query,
                                           std::size_t limit, std::chrono::milliseconds timeout,
                                           std::stop_token cancel) override;
  Result<void> pin(const MemoryRecord& record) override;
  Result<bool> forget(const std::string& agent_id, const std::string& record_id) override;

  Result<std::size_t> idle_sessions(const Owner& owner) override;
  Result<std::size_t> erase(const Owner& owner, const std::filesystem::path& folder) override;

 private:
  // `Conflict`, cause `lease_lost`, unless the lease is valid now.
  Result<void> check_lease(store::Connection& connection, const Lease& lease) const;
  // Runs and tasks that end with the lease of their instance.
  Result<std::vector<Run>> open_runs(store::Connection& connection, const Dead& dead) const;
  Result<std::vector<BackgroundTask>> open_tasks(store::Connection& connection,
                                                 const Dead& dead) const;
  Result<std::string> whole_transcript(const Lease& lease, std::uint64_t& revision);
  std::string now() const { return rfc3339(clock_.wall()); }
  std::int64_t microseconds() const { return clock_.wall().time_since_epoch().count(); }

  std::unique_ptr<Database> database_;
  const Clock& clock_;
};

// 1 to 256 bytes of UTF-8 without control characters. `InvalidInput` names it as `what`.
Result<void> check_id(std::string_view what, std::string_view id);

std::unexpected<Error> lease_lost(const Lease& lease);

}  // namespace sallyport::sessions
