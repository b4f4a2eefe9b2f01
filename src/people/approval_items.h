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
  bool all = false;  // lists similar requests one by one
};

// The risk rank of a class of effects; 0 is the riskiest (AP-43).
std::size_t risk_rank(std::string_view action);

struct ApprovalItem {
  std::string id;
  core::ApprovalState state;
  core::ApprovalStatus status;  // pending past its deadline counts as expired
  json::object request;         // of AP-1
  std::string description;
  std::string folder{};                    // where relative paths of the call start
  std::string answer{};                    // words, for a question that is not about a call
  std::vector<core::HiddenPart> hidden{};  // parts of the input that `request` hides
  json::object rules{};                    // results of rules (RU-73); empty: none
  std::optional<json::value> exact{};      // the input with nothing hidden, once it was revealed
  std::vector<std::string> reasons{};      // of `state.votes`; empty: they were not read
  json::value ended{};                     // who ended it without an answer (CO-41), once read
};

// `NotFound`: there is no such question.
Result<ApprovalItem> approval_item(core::RecordReader& records, const std::string& id,
                                   WallTime now);

// Reads what the answers say: who ended the question, and, for a person who `reads` sealed content,
// the reasons (CO-39).
void read_answers(core::RecordReader& records, bool reads, ApprovalItem& item);

// The kinds and states that can be listed.
const std::vector<std::string>& approval_kinds();
const std::vector<std::string>& approval_states();

// Adds the exact input to an item that hides a part of it, for the authenticated person `name`.
// Does nothing if nothing is hidden or the question is decided. `Unauthenticated`: that person may
// not answer this question. `Corrupt`: the binding does not cover the stored input.
Result<void> reveal(core::RecordReader& records, const core::Decrypt& decrypt,
                    const std::string& name, ApprovalItem& item);

// `InvalidInput`: there is no such kind or state. The riskiest class first, in it those that hide
// something, then the oldest (AP-43). No agent fills the first page: after sixteen questions of one
// agent come those of all others.
Result<std::vector<ApprovalItem>> approval_items(core::RecordReader& records,
                                                 const ApprovalsListOptions& options, WallTime now);

}  // namespace sallyport::app
