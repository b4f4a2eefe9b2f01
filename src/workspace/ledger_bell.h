// Rings when any process writes to the ledger of a data folder (inotify).
#pragma once

#include <chrono>
#include <filesystem>

namespace sallyport::app {

class LedgerBell {
 public:
  // Without inotify it never rings, and a waiter looks again when its time is over.
  explicit LedgerBell(const std::filesystem::path& data_dir);
  LedgerBell(const LedgerBell&) = delete;
  ~LedgerBell();

  // Waits for a ring or for something to read on `also`, at most so long. True: `also` is readable.
  // A negative `also` is none.
  bool wait(int also, std::chrono::milliseconds longest);

 private:
  int descriptor_;
};

}  // namespace sallyport::app
