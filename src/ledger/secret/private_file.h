// Files that only their owner may read: created with mode 0600, synced, then renamed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::ledger {

// Creates the folder with mode 0700. An existing empty folder gets that mode. Refuses a folder that
// belongs to another user or that others may enter.
Result<void> make_private_folder(const std::filesystem::path& folder);

// No value: there is no such file. Refuses a file that others can read or another user owns; the
// message says what to change.
Result<std::optional<std::string>> read_private_file(const std::filesystem::path& file,
                                                     std::size_t largest = 64 * 1024);

// Never overwrites: false when the file was there before.
Result<bool> create_private_file(const std::filesystem::path& file, std::string_view content);

// Replaces the file in one step, or not at all.
Result<void> replace_private_file(const std::filesystem::path& file, std::string_view content);

// Overwrites the bytes before it unlinks; absent is fine. A file with a second name keeps its bytes
// for that name.
Result<void> remove_private_file(const std::filesystem::path& file);

// Removes unfinished files beside `file` that killed processes left.
void remove_leftovers_of(const std::filesystem::path& file);
// The same for every file of a folder.
void remove_leftovers_in(const std::filesystem::path& folder);

Result<void> rename_synced(const std::filesystem::path& from, const std::filesystem::path& to);

// Replaces `to` by `from` in one step, then overwrites the old bytes. At every moment there is one
// whole file of that name.
Result<void> supersede_private_file(const std::filesystem::path& from,
                                    const std::filesystem::path& to);

}  // namespace sallyport::ledger
