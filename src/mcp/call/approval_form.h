// A question about a call as the user of a client sees it, in a form of the client (AP-31, AP-38).
#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "sallyport/approval.h"

namespace sallyport::mcp {

// Its key among the questions of one answer.
inline constexpr std::string_view kApprovalKey = "sallyport.approval";

// `params` of `elicitation/create`. `request` is that of AP-1 as the ledger has it, so secrets are
// masked in it. Hidden characters are shown by number, and the binding is at the end. If a rule
// asks for a reason, the note is required (RU-18). `body` is of the entry of the request. It has
// the description, the hidden parts and the lines of rules (RU-73).
json::object approval_form(const json::object& request, const json::object& body);

// Returns what the user said, without a name. No value: the user closed the form, and another
// person may answer.
std::optional<Reply> reply_in_form(const json::value& answer);

// True if the client declared that it can show forms.
bool shows_forms(const json::object& capabilities);

}  // namespace sallyport::mcp
