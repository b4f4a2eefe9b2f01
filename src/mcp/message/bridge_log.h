// Counts, by feature, the requests of one side that the other era cannot express, so that nothing
// is dropped silently.
#pragma once

#include <map>
#include <string>

#include "core/record/record_log.h"

namespace sallyport::mcp {

// Feature: how often, in all processes on the ledger.
inline constexpr std::string_view kDegradedSpace = "bridge_degraded";

class BridgeLog {
 public:
  BridgeLog(core::RecordLog& records, std::string server)
      : records_(records), server_(std::move(server)) {}

  // True: no write is under way, so the caller must call `write`.
  bool note(std::string_view feature);
  // Writes until nothing is left. Drops counts that cannot be written; no call stops for them.
  Async<void> write();

 private:
  core::RecordLog& records_;
  std::string server_;
  std::map<std::string, std::uint64_t> counts_;
  bool writing_ = false;
};

}  // namespace sallyport::mcp
