// The late outcome of a call that another gateway has closed: this gateway was declared lost while
// the call ran, or the commit of the intent or of the report was in doubt and did happen.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "ledger/store.h"

namespace sallyport::ledger {

struct Group;
class SealedDraft;

// Ids of intents in doubt, by call: their callers got an error, but the intent may be in the log.
using DoubtfulIntents = std::map<std::string, Uuid>;

// Adds the intents of a group that may or may not have been written.
void note_intents(const Group& group, DoubtfulIntents& doubtful);

// The call that the draft ends, by a fact or because its intent was in doubt; else empty.
std::string ended_call(const SealedDraft& draft, const DoubtfulIntents& doubtful);

// Returns the names of the calls that the group ends and that are no longer open. An earlier
// attempt wrote a draft that `is_written` finds, so its call is in order. An intent that it does
// not find was never written, so no other gateway can have closed the call.
Result<std::vector<std::string>> calls_closed_elsewhere(
    ReadView& view, const Group& group, const DoubtfulIntents& doubtful,
    const std::function<Result<bool>(const Uuid&)>& is_written);

// The entry `late_outcome` of each of these calls, on the topic `late_outcomes`. It has no content:
// the record of the call is the one that closed it.
std::vector<core::Draft> late_outcomes(const Group& group, const DoubtfulIntents& doubtful,
                                       const std::vector<std::string>& calls);

}  // namespace sallyport::ledger
