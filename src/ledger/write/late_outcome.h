// What is left of the report about a call that another gateway has closed: this gateway was declared
// lost while the call ran, or the commit of the report was in doubt and did happen.
#pragma once

#include "base/clock.h"
#include "ledger/write/committer.h"

namespace sallyport::ledger {

// Returns the names of the calls that the group ends and that are no longer open. A draft that
// `is_written` finds was written by an earlier attempt, and its call is as it should be.
Result<std::vector<std::string>> calls_closed_elsewhere(
    ReadView& view, const Group& group, const std::function<Result<bool>(const Uuid&)>& is_written);

// The entry `late_outcome` of each of these calls, on the topic `late_outcomes`. It has no content:
// the record of the call is the one that closed it.
std::vector<core::Draft> late_outcomes(const Group& group, const std::vector<std::string>& calls);

}  // namespace sallyport::ledger
