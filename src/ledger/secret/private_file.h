// Files that only their owner may read: created with mode 0600, synced, then renamed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::ledger {

// Mode 0700, also for one that was there and is empty. Refuses one that belongs to another user, or
// that others may enter.
Result<void> make_private_folder(const std::filesystem::path& folder);

// No value: there is no such file. Refuses a file that others can read or another user owns; the
// message says what to change.
Result<std::optional<std::string>> read_private_file(const std::filesystem::path& file,
                                                     std::size_t largest = 64 * 1024);

// Never overwrites: false when the file was there before.
Result<bool> create_private_file(const std::filesystem::path& file, std::string_view content);

// In one step, or not at all.
Result<void> replace_private_file(const std::filesystem::path& file, std::string_view content);

// Overwrites the bytes before it unlinks; absent is fine.
Result<void> remove_private_file(const std::filesystem::path& file);

// Files that were being made beside `file`, in whose middle a process was killed.
void remove_leftovers_of(const std::filesystem::path& file);

Result<void> rename_synced(const std::filesystem::path& from, const std::filesystem::path& to);

// `from` takes the place of `to` in one step; the bytes that were there are overwritten after it.
// At every moment there is one whole file of that name.
Result<void> supersede_private_file(const std::filesystem::path& from,
                                    const std::filesystem::path& to);

}  // namespace sallyport::ledger
