// Notices that the log has grown, for all tasks of this process that wait for another process. One
// of them checks the size of the log; the others sleep until it has changed. So the cost does not
// grow with the number of waiting tasks, and a quiet log is not searched.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/async.h"
#include "core/record/record_reader.h"

namespace sallyport::core {

// One for each process. May be used from any thread.
class LogWatch {
 public:
  explicit LogWatch(RecordReader& records);

  // Returns when the log has grown, when `ring` was called for `key`, when `longest` or half a
  // second has passed, or on cancel; the caller checks which. The task that checks for all returns
  // after one check.
  Async<void> wait(std::string key, std::chrono::milliseconds longest, std::stop_token cancel);
  // Wakes the waiters of `key`: this process has changed its state.
  void ring(const std::string& key);

  // True if the log has grown since this set `seen`; sets `seen` again. Also true if the size
  // cannot be read. One read of the size serves all callers within a tenth of a second.
  bool grown(std::uint64_t& seen);

 private:
  struct Shared;
  std::uint64_t read_size();

  RecordReader& records_;
  std::shared_ptr<Shared> shared_;  // an abandoned wait may outlive this
};

}  // namespace sallyport::core
