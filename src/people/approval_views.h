// Views beside the question: its risk, who has answered, who may still answer, and whether this
// person may.
#pragma once

#include <functional>
#include <string>

#include "api/role.h"
#include "people/approval_items.h"
#include "trust/control.h"
#include "trust/enrolments.h"
#include "workspace/config/strong_questions.h"

namespace sallyport::app {

json::object risk_json(const ApprovalItem& item);
json::object quorum_json(const ApprovalItem& item, const trust::Reviewers& people);

// True if the call of this question requires a human.
using NeedsOwnLook = std::function<Result<bool>(const ApprovalItem&)>;

// Empty: the person may answer. Else one of role, not_listed, own_agent, already_answered,
// not_pending, strong_needed, key_needed.
Result<std::string> why_not(const ApprovalItem& item, const api::Person& person,
                            const trust::Reviewers& people, const StrongQuestions& strong,
                            const NeedsOwnLook& needs_own_look);

// Whether and how this person may answer: `{ok, why, sign?}`. If an answer must be signed, `sign`
// names the enrolled keys of this person that the question accepts.
json::object may_answer_json(const std::string& why, const std::string& person,
                             const std::vector<trust::Enrolment>& enrolled);

// Removes sealed members for a person who may not read them, and names them in `withheld`.
void withhold(json::object& shown, const api::Person& person);

}  // namespace sallyport::app
