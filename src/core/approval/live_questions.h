// An index of live questions: those without a decision, and approvals that are not used yet. Lists,
// metrics and starting processes read it, so their cost does not grow with history. It changes in
// the transactions that change the questions themselves.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/approval/approval_state.h"
#include "core/record/record_reader.h"

namespace sallyport::core::live_questions {

// Facts for the draft that opens a question, that ends it in this state, or that opens it again.
Fact opened(const std::string& approval_id);
void add_done(std::vector<Fact>& facts, const std::string& approval_id, ApprovalStatus status);
void add_reopened(std::vector<Fact>& facts, const std::string& approval_id,
                  const ApprovalState& before);
// Adds the facts that create the index to the facts of a question. A ledger of an earlier release
// has no index and is scanned once. Adds nothing if the index exists or cannot be read now.
void begin(RecordReader& records, std::vector<Fact>& facts);

bool is_live(const ApprovalState& state);
// The state to show to people: a question or an unused approval past its time is expired, even if
// no process has recorded that yet.
ApprovalStatus shown_status(const ApprovalState& state, WallTime now);

// Returns all live questions in the order of their ids. An unreadable state is an error of its own.
using Live = std::pair<std::string, Result<ApprovalState>>;
Result<std::vector<Live>> all(RecordReader& records);

// How many questions there are in each state.
Result<std::map<ApprovalStatus, std::uint64_t>> counts(RecordReader& records, WallTime now);

}  // namespace sallyport::core::live_questions
