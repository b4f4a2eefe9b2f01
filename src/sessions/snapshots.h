// Files with complete transcripts, one for each compaction: `<session>-<revision>.jsonl`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::sessions {

// Creates the folder with mode 0700 if it does not exist. A folder that others may enter, or a
// symbolic link, is refused. The file has mode 0600 and is on disk when this returns its path.
Result<std::string> write_snapshot(const std::filesystem::path& folder, std::string_view session_id,
                                   std::uint64_t revision, std::string_view text);

// Removes snapshots of this session with a revision below `applied`, except the newest `keep`.
// Returns how many it removed.
Result<std::size_t> remove_snapshots(const std::filesystem::path& folder,
                                     std::string_view session_id, std::size_t keep,
                                     std::uint64_t applied);

// Removes all snapshots of this session. An error: one of them is still there.
Result<void> erase_snapshots(const std::filesystem::path& folder, std::string_view session_id);

}  // namespace sallyport::sessions
