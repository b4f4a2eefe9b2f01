// The facts about calls that run, or wait: for a person, for their host, or to be presented again.
#pragma once

#include <string>
#include <string_view>

#include "core/record/draft.h"
#include "core/record/instances.h"

namespace sallyport::core {

// Key: call id. Value: the process that runs the call, and the place of its intent.
inline constexpr std::string_view kOpenCall = "open_call";
// Key: call id. Value: until when another program may run the call, as its intent says.
inline constexpr std::string_view kHandedOut = "handed_out";
// Key: call id. Value: the approval that the call waits for; any process may resume the call.
inline constexpr std::string_view kWaitingCall = "waiting_call";
// Key: call id. Value: the approval, the process that holds the call, and the place of the entry.
inline constexpr std::string_view kHeldCall = "held_call";
// Key: digest of session, server and call. Value: the last approval request (AP-36).
inline constexpr std::string_view kAskedCall = "asked_call";
// Key: approval. Value: the place of the terminal record of the call that used it.
inline constexpr std::string_view kApprovalResult = "approval_result";
// Key: approval. Value: the proposed call, encrypted (AP-22).
inline constexpr std::string_view kProposedCall = "proposed_call";

// Key: approval. Value: the text that its binding covers, encrypted. Stored while it is pending, if
// its record has a redacted input.
inline constexpr std::string_view kApprovalInput = "approval_input";

// Key: idempotency row. Value: a prepared operation that may outlive this process, encrypted, until
// its end is known (AU-78).
inline constexpr std::string_view kPreparedCall = "prepared_call";

// `holder` is the instance whose caller waits, or `kNobody` if the caller has left. Then any
// process may resume the call, whether the process that asked still runs or not.
inline constexpr std::string_view kNobody = "-";
Fact held_call(const std::string& call_id, const std::string& approval_id,
               const std::string& holder);
// True if a caller waits for a call with this holder.
bool held(const Instances& instances, const std::string& holder);

}  // namespace sallyport::core
