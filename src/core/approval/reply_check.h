// Who may answer a question, and what he may say to it.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "core/approval/approval_state.h"
#include "sallyport/approval.h"

namespace sallyport::core {

inline constexpr std::size_t kLongestReason = 64 * 1024;

// AP-13: neither the agent nor one of its own, listed or not.
bool is_requester(std::string_view name, const json::object& request);

// What a person is known by, for records: `key:` and 16 digits of its digest, `token` or `client`.
std::string shown_credential(std::string_view credential);

// `Unauthenticated`: what he says does not count here.
Result<void> check_reviewer(const Reply& reply, const json::object& request,
                            const ApprovalState& state);

// The same, and what he says. `Conflict` with the cause `binding_mismatch`: he saw something else.
Result<void> check_reply(const Reply& reply, const json::object& request,
                         const ApprovalState& state);

}  // namespace sallyport::core
