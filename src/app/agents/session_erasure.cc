#include "app/agents/session_erasure.h"

#include "app/agents/agent_store.h"
#include "base/try.h"

namespace sallyport::app {

SessionErasure::SessionErasure(const Context& context, const ledger::Selection& selection)
    : owner_{.session_id = selection.session_id, .agent_id = selection.agent_id} {
  whole_ = (selection.session_id || selection.agent_id) && !selection.call_id && !selection.kind &&
           !selection.since && !selection.until && !selection.path;
  const Result<std::filesystem::path> folder = context.data_dir();
  if (!folder) return;  // the ledger is not found either
  folder_ = *folder;
  std::error_code code;
  exists_ = std::filesystem::exists(agents_file(folder_), code);
}

Result<std::size_t> SessionErasure::find() {
  if (!whole_ || !exists_) return 0;
  SALLYPORT_TRY(store_, sessions::SessionStore::open({.file = agents_file(folder_)}, clock_));
  return store_->idle_sessions(owner_);
}

Result<std::size_t> SessionErasure::run() {
  if (store_ == nullptr) return 0;
  return store_->erase(owner_, snapshots_folder(folder_));
}

}  // namespace sallyport::app
