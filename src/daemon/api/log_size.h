// The size of the log, for all streams of news. A stream reads its news only after the log has
// grown, so a quiet log costs one small read for all streams.
#pragma once

#include <chrono>
#include <cstdint>

#include "api/readers.h"
#include "ledger/ledger.h"

namespace sallyport::app {

// Used on the loop of the server. The ledger and the clock must outlive the readers.
class LogSize {
 public:
  static constexpr std::chrono::milliseconds kBeat{40};

  LogSize(ledger::Ledger& ledger, const Clock& clock) : ledger_(ledger), clock_(clock) {}

  // The size is at most one beat old. One read answers for all callers of that time. If the log
  // cannot be read, returns the last known size: each stream notices that in its own read.
  Async<std::uint64_t> newest(api::Readers& readers);

 private:
  ledger::Ledger& ledger_;
  const Clock& clock_;
  std::uint64_t size_ = 0;
  SteadyTime size_at_{};
  bool asking_ = false;
};

}  // namespace sallyport::app
