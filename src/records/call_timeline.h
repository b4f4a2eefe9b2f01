// One call as a page shows it: every step of both doors in order, from its records alone (CO-46).
#pragma once

#include "api/role.h"
#include "records/entry_text.h"
#include "sallyport/audit_record.h"

namespace sallyport::app {

// `record` is the newest audit record of the call, `stored` its entry with its openings.
json::array call_timeline(const AuditRecord& record, const OpenedEntry& stored,
                          const api::Person& person);

}  // namespace sallyport::app
