// What our own agents keep beside the ledger of the sessions that `ledger erase` selects: their
// transcripts, commands and memory in `agents.db`, and snapshots in `transcripts/` (LE-58).
#pragma once

#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "ledger/maintenance.h"
#include "sessions/session_store.h"
#include "workspace/context.h"

namespace sallyport::app {

// One thread.
class SessionErasure {
 public:
  // The selection names sessions or agents as a whole, or only a part of them, which stays. Looking
  // makes no file.
  SessionErasure(const Context& context, const ledger::Selection& selection);

  // How many sessions go. `Conflict`: a process works on one of them.
  Result<std::size_t> find();
  // Call it after `find` and after the ledger has agreed. Returns how many sessions it removed.
  Result<std::size_t> run();
  // True if agents keep sessions here, and the selection names only parts of them.
  bool leaves_sessions() const { return exists_ && !whole_; }

 private:
  std::filesystem::path folder_;
  sessions::Owner owner_;
  bool whole_ = false;
  bool exists_ = false;
  SystemClock clock_;
  std::unique_ptr<sessions::SessionStore> store_;  // null: nothing to remove
};

}  // namespace sallyport::app
