// Calls that have not ended. They run, wait for a person, or are with their host, and content is
// kept for them beside their entries.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "core/approval/approval_state.h"
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

  // Takes out the calls that were left: their question is over, so they can only be told that they
  // did not run, and were not ended. Returns the states of their questions, by call id. The
  // caller ends them.
  std::map<std::string, core::ApprovalStatus> take_left(WallTime now);

 private:
  std::map<std::string, std::string> ends_by_;            // by call id
  std::map<std::string, core::ApprovalState> resumable_;  // calls that any process may resume
};

// Returns the entries that end a call which was left. `entry` is its `requires_confirmation`, with
// null for each sealed field.
using EndLeft =
    std::function<std::vector<core::Draft>(const json::object& entry, core::ApprovalStatus status)>;
// Ends a call that was left, with the turn that waits for it.
Result<std::vector<core::Draft>> end_left(WriteView& view, const std::string& call_id,
                                          core::ApprovalStatus status, const EndLeft& end);

// Entries that a person still needs, each with what waits for it: approval requests, their answers,
// and escalations. By sequence.
Result<std::map<std::uint64_t, std::string>> waiting_entries(ReadView& view);

// Removes what is still kept for calls that have ended, such as an operation that a caller may
// repeat. A repetition is then prepared again.
Result<void> drop_kept_copies(WriteView& view, const std::set<std::string>& ended_calls);

}  // namespace sallyport::ledger
