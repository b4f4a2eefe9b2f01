// What one side asked for and the other could not be given, counted by feature: a bridge that drops
// things in silence is what users complain of.
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
  // Until nothing is left. What cannot be written is dropped: it is no reason to stop a call.
  Async<void> write();

 private:
  core::RecordLog& records_;
  std::string server_;
  std::map<std::string, std::uint64_t> counts_;
  bool writing_ = false;
};

}  // namespace sallyport::mcp
