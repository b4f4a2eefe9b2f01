// Questions to people as JSON for programs: the same through every door.
#pragma once

#include "core/approval/escalations.h"
#include "people/approval_items.h"

namespace sallyport::app {

json::object to_json(const ApprovalItem& item);
json::object to_json(const EscalationItem& item);

// The record of the call that used an approval; null where there is none (AP-22).
Result<json::value> result_of_approval(core::RecordReader& records, const std::string& id);
// With the question, its answers and the result; `exact_input` if it was revealed.
json::object page_json(const ApprovalItem& item, json::value result);

}  // namespace sallyport::app
