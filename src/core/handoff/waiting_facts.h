// The facts about calls that run, or wait: for a person, for their host, or to be presented again.
#pragma once

#include <string>
#include <string_view>

#include "core/record/draft.h"
#include "core/record/instances.h"

namespace sallyport::core {

// Call id: the process that has the call in hand, at its intent.
inline constexpr std::string_view kOpenCall = "open_call";
// Key: call id. Value: until when another program may run the call, as its intent says.
inline constexpr std::string_view kHandedOut = "handed_out";
// Key: call id. Value: the approval that the call waits for; any process may resume the call.
inline constexpr std::string_view kWaitingCall = "waiting_call";
// Call id: the approval and the process that holds the call, at the entry that says it waits.
inline constexpr std::string_view kHeldCall = "held_call";
// Digest of session, server and call: the approval that was last asked for (AP-36).
inline constexpr std::string_view kAskedCall = "asked_call";
// Approval: at the terminal record of the call that used it.
inline constexpr std::string_view kApprovalResult = "approval_result";
// Approval: the proposed call, encrypted (AP-22).
inline constexpr std::string_view kProposedCall = "proposed_call";

// Approval: the text that its binding covers, encrypted, while it is pending and the record of the
// question has the input redacted.
inline constexpr std::string_view kApprovalInput = "approval_input";

// Row of idempotency: what was prepared and may outlive this process, encrypted, until its end is
// known (AU-78).
inline constexpr std::string_view kPreparedCall = "prepared_call";

// The door of a yes that was given in the dialog of a coding agent's host, and seen by what ran: it
// is for the call that it was seen with, and for no other one like it (AP-33).
inline constexpr std::string_view kHostDoor = "hook";

// `holder` is the instance whose caller waits, or `kNobody` if the caller has left. Then any
// process may resume the call, whether the process that asked still runs or not.
inline constexpr std::string_view kNobody = "-";
Fact held_call(const std::string& call_id, const std::string& approval_id,
               const std::string& holder);
// True if a caller waits for a call with this holder.
bool held(const Instances& instances, const std::string& holder);

}  // namespace sallyport::core
