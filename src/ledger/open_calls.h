// Calls that have not ended. They run, wait for a person, or are with their host, and content is
// kept for them beside their entries.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "ledger/entry/entry.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// Made for one transaction.
class OpenCalls {
 public:
  static Result<OpenCalls> in(ReadView& view);

  bool has(const std::string& call_id) const { return ends_by_.contains(call_id); }
  // `Conflict`, with what ends the call, if the entry belongs to an open call.
  Result<void> refuse(const EntryView& entry) const;

 private:
  std::map<std::string, std::string> ends_by_;  // by call id
};

// Entries that a person still needs, each with what waits for it: approval requests, their answers,
// and escalations. By sequence.
Result<std::map<std::uint64_t, std::string>> waiting_entries(ReadView& view);

// Removes what is still kept for calls that have ended, such as an operation that a caller may
// repeat. A repetition is then prepared again.
Result<void> drop_kept_copies(WriteView& view, const std::set<std::string>& ended_calls);

}  // namespace sallyport::ledger
