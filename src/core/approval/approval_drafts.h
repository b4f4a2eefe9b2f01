// The entries that a question leaves in the log: that it was asked, what people said, that it was
// passed on, what came of it. Each has in front of it the event for those who follow along (LG-9),
// so the last of a list is the entry itself. `request` is the question as the log has it.
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

// With the facts that it is pending, and where it was asked. `hidden`: what the record of it will
// not show of the input.
struct QuestionTerms {
  std::chrono::seconds use_within{600};
  std::vector<LaterReviewers> later{};
};
std::vector<Draft> question_drafts(const Question& question, QuestionTerms terms,
                                   const Subject& subject,
                                   const std::vector<HiddenPart>& hidden = {});

// An answer that does not count, and why. It changes nothing.
Draft refused_draft(const std::string& approval_id, const Vote& vote, std::string_view cause,
                    const json::object& request);

std::vector<Draft> response_drafts(const std::string& approval_id, const Reply& reply,
                                   const Vote& vote, const json::object& request);

// `by` is the one who passes it on, as he is named in the log.
std::vector<Draft> passed_on_drafts(const std::string& approval_id,
                                    const std::vector<std::string>& to, const Reply& by,
                                    const json::object& request);

// How a question ends.
struct Closing {
  ApprovalStatus status;
  std::string reason{};
  std::string door{};
  std::string by{};  // who took it back
};
// The record of AP-3. `state` becomes what the closing says, and travels along as a fact.
std::vector<Draft> decision_drafts(const std::string& approval_id, ApprovalState& state,
                                   const Closing& closing, const json::object& request,
                                   WallTime now);

}  // namespace sallyport::core
