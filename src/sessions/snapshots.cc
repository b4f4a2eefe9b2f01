#include "sessions/snapshots.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "core/record/ledger_error.h"
#include "ledger/secret/private_file.h"

namespace sallyport::sessions {

namespace {

constexpr std::string_view kEnding = ".jsonl";
constexpr std::size_t kRevisionDigits = 12;

// A session may have any name. A name that could be a path or is too long becomes a digest, which
// no plain name looks like.
std::string file_stem(std::string_view session_id) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  constexpr std::size_t kLongest = 128;
  if (session_id.size() <= kLongest && !session_id.starts_with('.') &&
      std::ranges::all_of(session_id, is_plain)) {
    return std::string(session_id);
  }
  const Hash hash = sha256(session_id);
  return "~" + hex(hash);
}

// The revision in the name of a snapshot of this session. No value: another file.
std::optional<std::uint64_t> revision_in(std::string_view name, std::string_view stem) {
  if (name.size() != stem.size() + 1 + kRevisionDigits + kEnding.size()) return std::nullopt;
  if (!name.starts_with(stem) || name[stem.size()] != '-' || !name.ends_with(kEnding)) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(stem.size() + 1, kRevisionDigits);
  std::uint64_t revision = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), revision);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return revision;
}

std::unexpected<Error> no_snapshot(std::string_view text, std::string cause) {
  return fail(ErrorCode::Unavailable, fmt::format("no snapshot of the transcript: {}", text), {},
              std::move(cause));
}

// Converts an error of the ledger's file functions to an error of a snapshot.
std::unexpected<Error> snapshot_error(const Error& error) {
  return no_snapshot(core::ledger_error_detail(error), error.cause);
}

}  // namespace

Result<std::string> write_snapshot(const std::filesystem::path& folder, std::string_view session_id,
                                   std::uint64_t revision, std::string_view text) {
  std::error_code absent;
  if (std::filesystem::is_symlink(folder, absent)) {
    return no_snapshot(fmt::format("{} is a symbolic link", folder.string()), "io");
  }
  if (Result<void> made = ledger::make_private_folder(folder); !made) {
    return snapshot_error(made.error());
  }
  const std::filesystem::path file = folder / fmt::format("{}-{:0{}}{}", file_stem(session_id),
                                                          revision, kRevisionDigits, kEnding);
  if (Result<void> written = ledger::replace_private_file(file, text); !written) {
    return snapshot_error(written.error());
  }
  ledger::remove_leftovers_of(file);
  return file.string();
}

namespace {

using Snapshots = std::vector<std::pair<std::uint64_t, std::filesystem::path>>;

// The snapshots of this session by revision, the newest first.
Result<Snapshots> snapshots_of(const std::filesystem::path& folder, std::string_view session_id) {
  const std::string stem = file_stem(session_id);
  Snapshots found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code unknown;
    if (!at->is_regular_file(unknown) || at->is_symlink(unknown)) continue;
    const std::optional<std::uint64_t> revision = revision_in(at->path().filename().string(), stem);
    if (revision) found.emplace_back(*revision, at->path());
  }
  if (error == std::errc::no_such_file_or_directory) return found;
  if (error) return no_snapshot(fmt::format("{}: {}", folder.string(), error.message()), "io");
  std::ranges::sort(found, std::greater{});
  return found;
}

}  // namespace

Result<std::size_t> remove_snapshots(const std::filesystem::path& folder,
                                     std::string_view session_id, std::size_t keep,
                                     std::uint64_t applied) {
  SALLYPORT_TRY(const Snapshots found, snapshots_of(folder, session_id));
  std::size_t removed = 0;
  for (std::size_t i = keep; i < found.size(); ++i) {
    if (found[i].first < applied && ::unlink(found[i].second.c_str()) == 0) ++removed;
  }
  return removed;
}

Result<void> erase_snapshots(const std::filesystem::path& folder, std::string_view session_id) {
  SALLYPORT_TRY(const Snapshots found, snapshots_of(folder, session_id));
  for (const auto& [revision, file] : found) {
    if (::unlink(file.c_str()) == 0 || errno == ENOENT) continue;
    return fail(ErrorCode::Unavailable,
                fmt::format("cannot remove {}: {}", file.string(), std::strerror(errno)), {}, "io");
  }
  return {};
}

}  // namespace sallyport::sessions
