// Builds the log entries of a question: the request, the answers, escalations and the decision. The
// topic event for followers comes before each entry (LG-9), so the last draft of a list is the
// entry itself. `request` is the question as the log has it.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/approval/approval_state.h"
#include "core/approval/hidden_parts.h"
#include "core/record/draft.h"
#include "sallyport/approval.h"

namespace sallyport::core {

// Includes the facts that the question is pending and at which entry. `hidden`: the parts of the
// input that its record does not show.
struct QuestionTerms {
  std::chrono::seconds use_within{600};
  std::vector<LaterReviewers> later{};
};
std::vector<Draft> question_drafts(const Question& question, QuestionTerms terms,
                                   const SharedSubject& subject,
                                   const std::vector<HiddenPart>& hidden = {});

// An answer that does not count, and why. It changes nothing.
Draft refused_draft(const std::string& approval_id, const Vote& vote, std::string_view cause,
                    const json::object& request);

std::vector<Draft> response_drafts(const std::string& approval_id, const Reply& reply,
                                   const Vote& vote, const json::object& request);

// `by` is the reviewer who escalates, as the log names them.
std::vector<Draft> passed_on_drafts(const std::string& approval_id,
                                    const std::vector<std::string>& to, const Reply& by,
                                    const json::object& request);

// How a question ends.
struct Closing {
  ApprovalStatus status;
  std::string reason{};
  std::string door{};
  std::string by{};  // who cancelled it
};
// The record of AP-3. It sets `state` to the state of the closing and commits it as a fact.
std::vector<Draft> decision_drafts(const std::string& approval_id, ApprovalState& state,
                                   const Closing& closing, const json::object& request,
                                   WallTime now);

}  // namespace sallyport::core
