// Ends of calls that waited for a person and cannot run any more, because their question is over.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "core/approval/approval_state.h"
#include "core/plan/autonomy_rules.h"
#include "core/record/draft.h"

namespace sallyport::core {

// The end that the state of a question gives to the call that waits for it (AP-21).
struct LeftEnd {
  std::string_view reason;
  std::optional<Enforcement> enforcement{};  // of its trust record; no value: it has none
};
// No value: there is no such question.
LeftEnd left_end(std::optional<ApprovalStatus> status);

// The terminal record of a call that was never resumed. A person ends it by erasing its content.
// `entry` is its `requires_confirmation` without content.
std::vector<Draft> close_left(const json::object& entry, ApprovalStatus status);

}  // namespace sallyport::core
