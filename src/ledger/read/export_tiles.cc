#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/try.h"
#include "ledger/proof/note.h"
#include "ledger/proof/tree.h"
#include "ledger/read/export.h"
#include "ledger/read/tile_reader.h"

namespace sallyport::ledger {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNote = 64 * 1024;

std::unexpected<Error> unwritable(const fs::path& path, int error) {
  return fail(ErrorCode::Unavailable,
              fmt::format("{} cannot be written: {}", path.string(), std::strerror(error)),
              path.string());
}

Result<void> write_new(const fs::path& path, std::string_view content) {
  // Mode by umask, unlike our own files: an export is there to be served to others.
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return unwritable(path, errno);
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return unwritable(path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::close(file.release()) != 0) return unwritable(path, errno);
  return {};
}

// A reader sees the whole file or none.
Result<void> put_file(const fs::path& path, std::string_view content) {
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  if (code) return unwritable(path.parent_path(), code.value());
  const fs::path temporary =
      path.parent_path() /
      fmt::format(".{}.{}.tmp", path.filename().string(), static_cast<int>(getpid()));
  fs::remove(temporary, code);
  Result<void> written = write_new(temporary, content);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = unwritable(path, errno);
  if (!written) fs::remove(temporary, code);
  return written;
}

// Everything beneath, at once: one sync for each of many thousand tiles would take minutes.
Result<void> sync_all(const fs::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::syncfs(opened.get()) != 0) return unwritable(folder, errno);
  return {};
}

// The state that an earlier export left: 0 when there is none.
Result<std::uint64_t> exported_size(ReadView& view, const fs::path& folder,
                                    const Checkpoint& newest) {
  const fs::path path = folder / "checkpoint";
  std::error_code code;
  if (!fs::exists(path, code)) return 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxNote, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const Result<Note> note = Note::parse(text);
  const Result<Checkpoint> there =
      note ? Checkpoint::parse(note->text) : Result<Checkpoint>(std::unexpected(note.error()));
  const auto conflict = [&](std::string_view what) {
    return fail(ErrorCode::Conflict,
                fmt::format("{} {}; choose an empty folder", path.string(), what), path.string());
  };
  if (!there) return conflict("is not a checkpoint");
  if (there->origin != newest.origin) return conflict("belongs to another log");
  if (there->size > newest.size) return conflict("is of a later state than this ledger");
  SALLYPORT_TRY(const Edge edge, edge_at(view, there->size));
  if (edge.root() != there->root) return conflict("contradicts this ledger");
  return there->size;
}

class TileFolder {
 public:
  TileFolder(ReadView& view, const fs::path& folder, std::uint64_t size, std::uint64_t exported)
      : view_(view), folder_(folder), size_(size), exported_(exported) {}

  Result<void> write_hashes() {
    std::uint64_t exported = exported_;
    std::uint64_t count = size_;
    for (int level = 0; count > 0; ++level, count /= kTile, exported /= kTile) {
      SALLYPORT_CHECK_OK(write_level(std::to_string(level), count, exported));
    }
    return {};
  }

  Result<void> write_entries() { return write_level("entries", size_, exported_); }

 private:
  Result<void> write_level(const std::string& name, std::uint64_t count, std::uint64_t exported) {
    for (std::uint64_t begin = 0; begin < count; begin += kTile) {
      const std::uint64_t end = std::min(begin + kTile, count);
      const std::string path = tile_path(name, begin / kTile, end - begin);
      // What the folder's checkpoint covers was complete before that checkpoint was written.
      std::error_code code;
      if (end <= exported && fs::exists(folder_ / path, code)) continue;
      SALLYPORT_TRY(const std::optional<std::string> bytes, read_tile(view_, path));
      if (bytes) SALLYPORT_CHECK_OK(put_file(folder_ / path, *bytes));
    }
    return {};
  }

  ReadView& view_;
  const fs::path& folder_;
  std::uint64_t size_;
  std::uint64_t exported_;
};

}  // namespace

std::string tile_path(std::string_view level, std::uint64_t number, std::uint64_t width) {
  std::string parts = fmt::format("{:03}", number % 1000);
  while (number >= 1000) {
    number /= 1000;
    parts = fmt::format("x{:03}/{}", number % 1000, parts);
  }
  const std::string path = fmt::format("tile/{}/{}", level, parts);
  return width < kTile ? fmt::format("{}.p/{}", path, width) : path;
}

Result<void> export_tiles(ReadView& view, const fs::path& folder) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return fail(ErrorCode::NotFound, "the ledger has no entries yet");
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  const Result<Note> note = Note::parse(last ? last->checkpoint : "");
  if (!note) {
    return ledger_unavailable("corrupt", fmt::format("entry {} carries no checkpoint", size - 1));
  }
  SALLYPORT_TRY(const Checkpoint newest, Checkpoint::parse(note->text));
  SALLYPORT_TRY(const std::uint64_t exported, exported_size(view, folder, newest));
  TileFolder tiles(view, folder, size, exported);
  SALLYPORT_CHECK_OK(tiles.write_hashes());
  SALLYPORT_CHECK_OK(tiles.write_entries());
  // INVARIANT: a checkpoint in the folder never outlives the loss of a tile it needs.
  SALLYPORT_CHECK_OK(sync_all(folder));
  SALLYPORT_CHECK_OK(put_file(folder / "checkpoint", last->checkpoint));
  return sync_all(folder);
}

}  // namespace sallyport::ledger
