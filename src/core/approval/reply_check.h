// Checks who may answer a question, and which replies count.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "core/approval/approval_state.h"
#include "sallyport/approval.h"

namespace sallyport::core {

inline constexpr std::size_t kLongestReason = 64 * 1024;

// True for the agent, its sub-agents and the agents above it, which may never answer, even if they
// are listed (AP-13).
bool is_requester(std::string_view name, const json::object& request);

// A credential as records show it: `key:` and 16 digits of its digest, `token` or `client`.
std::string shown_credential(std::string_view credential);

// `Unauthenticated`: the reply of this person does not count.
Result<void> check_reviewer(const Reply& reply, const json::object& request,
                            const ApprovalState& state);

// Also checks the reply. `Conflict` with the cause `binding_mismatch`: the person saw another call.
Result<void> check_reply(const Reply& reply, const json::object& request,
                         const ApprovalState& state);
// The same for the binding alone.
Result<void> check_binding(std::string_view binding, const json::object& request);

}  // namespace sallyport::core
