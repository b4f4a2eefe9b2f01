// Questions to people and their results, read from the ledger.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/approval/approval_state.h"
#include "core/approval/bound_input.h"
#include "core/approval/hidden_parts.h"
#include "core/record/record_reader.h"

namespace sallyport::app {

struct ApprovalsListOptions {
  std::optional<std::string> kind;
  std::optional<std::string> state;
  bool all = false;  // those that look alike too, each by itself
};

// The risk rank of a class of effects; 0 is the riskiest (AP-43).
std::size_t risk_rank(std::string_view action);

struct ApprovalItem {
  std::string id;
  core::ApprovalState state;
  core::ApprovalStatus status;  // as people are told: a pending one whose time is over is expired
  json::object request;         // of AP-1
  std::string description;
  std::string answer{};                    // in words, to a question that is about no call
  std::vector<core::HiddenPart> hidden{};  // what `request` does not show of the input
  json::object rules{};                    // what rules say of it (RU-73); empty: nothing
  std::optional<json::value> exact{};      // the input with nothing hidden, once it was revealed
};

// `NotFound`: there is no such question.
Result<ApprovalItem> approval_item(core::RecordReader& records, const std::string& id,
                                   WallTime now);

// What a list can be asked for.
const std::vector<std::string>& approval_kinds();
const std::vector<std::string>& approval_states();

// Adds the exact input to an item that hides a part of it, for the authenticated person `name`.
// Does nothing if nothing is hidden or the question is decided. `Unauthenticated`: that person may
// not answer this question. `Corrupt`: the binding does not cover the stored input.
Result<void> reveal(core::RecordReader& records, const core::Decrypt& decrypt,
                    const std::string& name, ApprovalItem& item);

// `InvalidInput`: there is no such kind or state. The riskiest class first, in it those that hide
// something, then the oldest (AP-43). No agent fills the first page: behind the first sixteen
// questions of one agent come those of all others.
Result<std::vector<ApprovalItem>> approval_items(core::RecordReader& records,
                                                 const ApprovalsListOptions& options, WallTime now);

}  // namespace sallyport::app
