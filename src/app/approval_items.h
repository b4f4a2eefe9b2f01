// What waits for a person, and what became of it, read from the ledger.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/approval_state.h"
#include "core/recorder.h"

namespace sallyport::app {

struct ApprovalItem {
  std::string id;
  core::ApprovalState state;
  std::string word;      // the state; a pending one whose time is over is `expired`
  json::object request;  // of AP-1
  std::string description;
  std::string answer{};  // in words, to a question that is about no call
};

// `NotFound`: nobody asked that.
Result<ApprovalItem> approval_item(core::RecordReader& records, const std::string& id,
                                   WallTime now);

// What a list can be asked for.
const std::vector<std::string>& approval_kinds();
const std::vector<std::string>& approval_states();

// `InvalidInput`: there is no such kind or state. The riskiest class first, in it the oldest
// (AP-43).
Result<std::vector<ApprovalItem>> approval_items(core::RecordReader& records,
                                                 const ApprovalsListOptions& options, WallTime now);

}  // namespace sallyport::app
