// Checks that a vote comes from the person whose name it has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/approval/approval_state.h"
#include "core/plan/approval_rules.h"
#include "core/record/record_reader.h"

namespace sallyport::core {

// Passkeys and browser keys, each with the signature of its enrolment (CO-19). The book of
// reviewers interprets them.
inline constexpr std::string_view kPasskeySpace = "passkey";
Result<std::vector<std::string>> enrolled_keys(RecordReader& records);

// `Unauthenticated`: the door, the signature and the enrolled keys do not prove that a registered
// person gave it (AP-10, CO-21). `binding` is that of the question.
Result<void> check_vote(const ApprovalRules& rules, RecordReader& records,
                        const std::string& approval_id, const Vote& vote,
                        const std::string& binding);

}  // namespace sallyport::core
