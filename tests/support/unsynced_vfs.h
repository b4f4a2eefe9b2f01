// A layer over SQLite's files that simulates power loss and refused writes.
//
// It remembers the synced contents of each file. A crash restores these contents on the disk and
// refuses all access until `restart()`, so a test can lose power in the middle of a commit and read
// the files that the machine would find afterwards. One per process; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace sallyport::test {

class UnsyncedVfs {
 public:
  static constexpr const char* kName = "unsynced";
  static UnsyncedVfs& get();  // registers the layer when first called

  enum class Loss {
    All,   // only synced data survives
    Some,  // some unsynced data survives, in any order, cut at sectors, as with a disk cache
  };

  // Takes effect instead of the `nth` write, sync or truncate from now on (1 is the next).
  void crash_at(std::uint64_t nth, Loss loss, unsigned seed = 1);
  void crash(Loss loss, unsigned seed = 1);
  bool crashed() const;

  // The `nth` write, sync or truncate from now on fails with this SQLite code. A lasting fault also
  // fails every later one. A write that fails leaves its first half behind.
  void fail_at(std::uint64_t nth, int code, bool lasting);
  // Returns the number of failed operations.
  std::uint64_t failures() const;

  // Ends the power loss or the fault. No file may be open after a crash.
  void restart();

  // Writes, syncs and truncates since the last of the calls above.
  std::uint64_t operations() const;

  // The file layer calls these functions. They return an SQLite code other than 0 to prevent the
  // operation.
  int before_write(const std::string& file, std::int64_t offset, const void* data, int size);
  int before_truncate(const std::string& file, std::int64_t size);
  int before_sync(const std::string& file);
  int before_delete(const std::string& file, bool sync_folder);
  int before_other();
  void opened(const std::string& file);
  void synced(const std::string& file);

 private:
  struct Change {
    std::int64_t offset = 0;
    std::string bytes;
    bool truncates = false;
  };
  struct Image {
    bool exists = false;
    std::string synced;
    bool fresh = false;    // its first sync also syncs the folder, as SQLite's own layer does
    bool deleted = false;  // and may be back after a crash until the folder is synced
    std::vector<Change> pending{};
  };

  UnsyncedVfs() = default;
  int count();
  void lose_power();
  void sync_folder();
  static void apply(const Change& change, std::string& content);

  mutable std::mutex mutex_;
  std::map<std::string, Image> files_;  // mutex_ guards everything below
  std::uint64_t operations_ = 0;
  std::uint64_t crash_at_ = 0;
  std::uint64_t fail_at_ = 0;
  std::uint64_t failures_ = 0;
  int fail_code_ = 0;
  bool lasting_ = false;
  bool crashed_ = false;
  Loss loss_ = Loss::All;
  std::mt19937 random_;
};

}  // namespace sallyport::test
