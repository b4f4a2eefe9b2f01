// The SQLite file of the session store. Opens it, checks it, and runs transactions. One connection
// writes; reads and searches have their own, so no search blocks a commit. Any thread may use it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "sallyport/result.h"
#include "store/sqlite/connection.h"

namespace sallyport::sessions {

class Database {
 public:
  // Creates the file with mode 0600 if it does not exist. An empty name means in memory. A file
  // that is damaged, not a session store, or of a newer schema is an error that names the file; the
  // file is not changed.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file);

  using Work = std::function<Result<void>(store::Connection&)>;
  // Runs one transaction. It is on disk after success. If `work` fails, nothing changes.
  Result<void> write(const Work& work);
  // One snapshot.
  Result<void> read(const Work& work);
  // As `read`. `Deadline` or `Cancelled`: SQLite was interrupted.
  Result<void> read_within(std::chrono::milliseconds timeout, const std::stop_token& cancel,
                           const Work& work);
  // Makes sure that no file still holds what was removed. `Unavailable`, cause `busy`: a reader
  // needs the old log.
  Result<void> scrub();

 private:
  explicit Database(std::filesystem::path file) : file_(std::move(file)) {}
  bool in_memory() const { return file_.empty(); }
  Result<void> check_existing();
  Result<void> open_writer();
  Result<void> commit(const Work& work) SALLYPORT_REQUIRES(writing_);
  Result<std::unique_ptr<store::Connection>> take_reader();
  void give_back(std::unique_ptr<store::Connection> reader);
  // Converts an error of a connection to one of the session store.
  std::unexpected<Error> store_error(const Error& error) const;

  std::filesystem::path file_;
  Mutex writing_;
  std::unique_ptr<store::Connection> writer_ SALLYPORT_GUARDED_BY(writing_);
  Guarded<std::vector<std::unique_ptr<store::Connection>>> idle_readers_;
};

}  // namespace sallyport::sessions
