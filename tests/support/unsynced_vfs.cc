#include "support/unsynced_vfs.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

namespace sallyport::test {

namespace {

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool there(const std::string& file) {
  struct stat status{};
  return stat(file.c_str(), &status) == 0;
}

sqlite3_vfs* under() {
  static sqlite3_vfs* const found = sqlite3_vfs_find(nullptr);
  return found;
}

// A file of this layer. SQLite's memory holds the underlying file right behind it.
struct File {
  sqlite3_file base;
  std::string* name;  // null for temporary files, which are let through
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& of(sqlite3_file* file) {
  return *reinterpret_cast<File*>(file);
}
sqlite3_file* real(sqlite3_file* file) {
  return of(file).real();
}
UnsyncedVfs& layer() {
  return UnsyncedVfs::get();
}

int close(sqlite3_file* file) {
  const int code = real(file)->pMethods->xClose(real(file));
  delete of(file).name;
  return code;
}

int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
  if (const int code = layer().before_other()) return code;
  return real(file)->pMethods->xRead(real(file), out, size, offset);
}

int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (of(file).name != nullptr) {
    if (const int code = layer().before_write(*of(file).name, offset, data, size)) {
      if (!layer().crashed()) real(file)->pMethods->xWrite(real(file), data, size / 2, offset);
      errno = 0;
      return code;
    }
  }
  return real(file)->pMethods->xWrite(real(file), data, size, offset);
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (of(file).name != nullptr) {
    if (const int code = layer().before_truncate(*of(file).name, size)) return code;
  }
  return real(file)->pMethods->xTruncate(real(file), size);
}

int sync(sqlite3_file* file, int flags) {
  if (of(file).name == nullptr) return SQLITE_OK;
  if (const int code = layer().before_sync(*of(file).name)) return code;
  // The real disk is not under test: this layer syncs only the contents that it remembers.
  (void)flags;
  layer().synced(*of(file).name);
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  if (const int code = layer().before_other()) return code;
  return real(file)->pMethods->xFileSize(real(file), size);
}
int lock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}
int unlock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
int check_lock(sqlite3_file* file, int* out) {
  return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
int control(sqlite3_file* file, int what, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), what, argument);
}
int sector_size(sqlite3_file* file) {
  return real(file)->pMethods->xSectorSize(real(file));
}
// The promises of the real disk are not passed on: SQLite may rely only on syncs.
int characteristics(sqlite3_file*) {
  return 0;
}
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}
int shm_unmap(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,         close,      read,    write,       truncate,        sync,    file_size, lock,
    unlock,    check_lock, control, sector_size, characteristics, shm_map, shm_lock,  shm_barrier,
    shm_unmap, nullptr,    nullptr};

int open(sqlite3_vfs*, const char* name, sqlite3_file* out, int flags, int* out_flags) {
  File& file = of(out);
  file.base.pMethods = nullptr;
  file.name = nullptr;
  if (const int code = layer().before_other()) return code;
  const bool kept =
      name != nullptr &&
      (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  if (kept) layer().opened(name);
  const int code = under()->xOpen(under(), name, file.real(), flags, out_flags);
  if (code != SQLITE_OK) return code;
  if (kept) file.name = new std::string(name);
  file.base.pMethods = &kMethods;
  return SQLITE_OK;
}

int remove(sqlite3_vfs*, const char* name, int sync_folder) {
  if (const int code = layer().before_delete(name, sync_folder != 0)) return code;
  return under()->xDelete(under(), name, sync_folder);
}

sqlite3_vfs& registered() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs made = *under();
    made.zName = UnsyncedVfs::kName;
    made.szOsFile = static_cast<int>(sizeof(File)) + under()->szOsFile;
    made.pNext = nullptr;
    made.xOpen = open;
    made.xDelete = remove;
    return made;
  }();
  static const int done = sqlite3_vfs_register(&vfs, 0);
  (void)done;
  return vfs;
}

}  // namespace

UnsyncedVfs& UnsyncedVfs::get() {
  static UnsyncedVfs one;
  static const sqlite3_vfs& vfs = registered();
  (void)vfs;
  return one;
}

void UnsyncedVfs::crash_at(std::uint64_t nth, Loss loss, unsigned seed) {
  const std::lock_guard guard(mutex_);
  crash_at_ = nth;
  operations_ = 0;
  loss_ = loss;
  random_.seed(seed);
}

void UnsyncedVfs::crash(Loss loss, unsigned seed) {
  const std::lock_guard guard(mutex_);
  loss_ = loss;
  random_.seed(seed);
  if (!crashed_) lose_power();
}

bool UnsyncedVfs::crashed() const {
  const std::lock_guard guard(mutex_);
  return crashed_;
}

void UnsyncedVfs::fail_at(std::uint64_t nth, int code, bool lasting) {
  const std::lock_guard guard(mutex_);
  fail_at_ = nth;
  fail_code_ = code;
  lasting_ = lasting;
  operations_ = 0;
  failures_ = 0;
}

std::uint64_t UnsyncedVfs::failures() const {
  const std::lock_guard guard(mutex_);
  return failures_;
}

std::uint64_t UnsyncedVfs::operations() const {
  const std::lock_guard guard(mutex_);
  return operations_;
}

void UnsyncedVfs::restart() {
  const std::lock_guard guard(mutex_);
  if (crashed_) files_.clear();
  crashed_ = false;
  crash_at_ = fail_at_ = operations_ = 0;
}

int UnsyncedVfs::count() {
  if (crashed_) return SQLITE_IOERR;
  ++operations_;
  if (operations_ == crash_at_) {
    lose_power();
    return SQLITE_IOERR;
  }
  if (fail_at_ == 0 || operations_ < fail_at_ || (operations_ > fail_at_ && !lasting_)) return 0;
  ++failures_;
  errno = 0;
  return fail_code_;
}

int UnsyncedVfs::before_write(const std::string& file, std::int64_t offset, const void* data,
                              int size) {
  const std::lock_guard guard(mutex_);
  const int code = count();
  if (crashed_) return code;
  const int written = code == 0 ? size : size / 2;
  files_[file].pending.push_back(
      {offset, std::string(static_cast<const char*>(data), static_cast<std::size_t>(written))});
  return code;
}

int UnsyncedVfs::before_truncate(const std::string& file, std::int64_t size) {
  const std::lock_guard guard(mutex_);
  if (const int code = count()) return code;
  files_[file].pending.push_back({size, {}, true});
  return 0;
}

int UnsyncedVfs::before_sync(const std::string&) {
  const std::lock_guard guard(mutex_);
  return count();
}

void UnsyncedVfs::synced(const std::string& file) {
  const std::lock_guard guard(mutex_);
  Image& image = files_[file];
  for (const Change& change : image.pending) apply(change, image.synced);
  image.pending.clear();
  image.exists = true;
  if (std::exchange(image.fresh, false)) sync_folder();
}

int UnsyncedVfs::before_delete(const std::string& file, bool folder) {
  const std::lock_guard guard(mutex_);
  if (crashed_) return SQLITE_IOERR;
  files_[file].deleted = true;
  if (folder) sync_folder();
  return 0;
}

void UnsyncedVfs::sync_folder() {
  for (auto& [file, image] : files_) {
    if (image.deleted) image = {.deleted = true};
  }
}

int UnsyncedVfs::before_other() {
  const std::lock_guard guard(mutex_);
  return crashed_ ? SQLITE_IOERR : 0;
}

void UnsyncedVfs::opened(const std::string& file) {
  const std::lock_guard guard(mutex_);
  const auto [at, unknown] = files_.try_emplace(file);
  Image& image = at->second;
  if (unknown && there(file)) image = {.exists = true, .synced = content_of(file)};
  if (there(file)) return;
  // A newly created file is empty and unsynced, even if an earlier file of this name was deleted.
  image.fresh = true;
  if (std::exchange(image.deleted, false)) image.pending.push_back({0, {}, true});
}

void UnsyncedVfs::apply(const Change& change, std::string& content) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (change.truncates) {
    if (content.size() > offset) content.resize(offset);
    return;
  }
  if (content.size() < offset + change.bytes.size()) content.resize(offset + change.bytes.size());
  std::ranges::copy(change.bytes, content.begin() + static_cast<std::ptrdiff_t>(offset));
}

void UnsyncedVfs::lose_power() {
  constexpr std::size_t kSector = 512;
  crashed_ = true;
  for (auto& [file, image] : files_) {
    if (loss_ == Loss::Some) {
      for (Change& change : image.pending) {
        if (random_() % 2 == 0) continue;
        if (!change.truncates && random_() % 4 == 0) {
          change.bytes.resize(std::min<std::size_t>(
              change.bytes.size(), random_() % (change.bytes.size() / kSector + 1) * kSector));
        }
        apply(change, image.synced);
        image.exists = true;
      }
    }
    if (image.exists) {
      std::ofstream out(file, std::ios::binary | std::ios::trunc);
      out << image.synced;
    } else {
      ::unlink(file.c_str());
    }
    ::unlink((file + "-shm").c_str());
  }
}

}  // namespace sallyport::test
