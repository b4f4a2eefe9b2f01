// The SQLite file of the session store: opens it, checks it, and runs transactions on it. One
// connection writes; reads and searches have connections of their own, so no search blocks a
// commit. From any thread.
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
  // Makes the file with mode 0600 where there is none. An empty name: in memory. A file that is
  // damaged, that is no session store, or that has a newer schema is an error that names the file,
  // and no byte of it changes.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file);

  using Work = std::function<Result<void>(store::Connection&)>;
  // One transaction. It is on disk when this returns well; nothing is changed where `work` fails.
  Result<void> write(const Work& work);
  // One snapshot.
  Result<void> read(const Work& work);
  // `Deadline` or `Cancelled`: SQLite was interrupted in the middle of it.
  Result<void> read_within(std::chrono::milliseconds timeout, const std::stop_token& cancel,
                           const Work& work);

 private:
  explicit Database(std::filesystem::path file) : file_(std::move(file)) {}
  bool in_memory() const { return file_.empty(); }
  Result<void> check_existing();
  Result<void> open_writer();
  Result<void> commit(const Work& work) SALLYPORT_REQUIRES(writing_);
  Result<std::unique_ptr<store::Connection>> take_reader();
  void give_back(std::unique_ptr<store::Connection> reader);
  // Converts an error of a connection to one of the session store.
  std::unexpected<Error> told(const Error& error) const;

  std::filesystem::path file_;
  Mutex writing_;
  std::unique_ptr<store::Connection> writer_ SALLYPORT_GUARDED_BY(writing_);
  Guarded<std::vector<std::unique_ptr<store::Connection>>> idle_readers_;
};

}  // namespace sallyport::sessions
