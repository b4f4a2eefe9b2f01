// The session store of our own agents: its places, those of its snapshots, and its sessions.
#pragma once

#include <filesystem>
#include <string>

#include "sessions/session_store.h"

namespace sallyport::app {

inline std::filesystem::path agents_file(const std::filesystem::path& data_dir) {
  return data_dir / "agents.db";
}

inline std::filesystem::path snapshots_folder(const std::filesystem::path& data_dir) {
  return data_dir / sessions::kSnapshotFolder;
}

// `NotFound`: there is no such session. Null: there are no sessions.
Result<sessions::Session> find_session(sessions::SessionStore* store, const std::string& id);

}  // namespace sallyport::app
