// A layer over SQLite's files that can lose power and can refuse.
//
// It remembers, file by file, what had been synced. A crash puts that back on the disk and lets
// nothing through until `restart()`, so that a test can pull the plug in the middle of a commit and
// look at what a machine would find when it comes up again. One per process; from any thread.
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
    All,   // nothing that was not synced is there
    Some,  // some of it is, in any order, cut at sectors: what a disk's cache may do
  };

  // Takes effect instead of the `nth` write, sync or truncate from now on (1 is the next).
  void crash_at(std::uint64_t nth, Loss loss, unsigned seed = 1);
  void crash(Loss loss, unsigned seed = 1);
  bool crashed() const;

  // The `nth` write, sync or truncate from now on fails with this SQLite code, and so do all after
  // it when the fault is lasting. A write that fails leaves its first half behind.
  void fail_at(std::uint64_t nth, int code, bool lasting);
  // How many have failed.
  std::uint64_t failures() const;

  // Power is back, or the fault is gone. No file may be open after a crash.
  void restart();

  // Writes, syncs and truncates since the last of the calls above.
  std::uint64_t operations() const;

  // What the file layer tells us. Each answers an SQLite code other than 0 when the call must not
  // happen.
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
  std::map<std::string, Image> files_;  // everything below: guarded by mutex_
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
