// Entries of the ledger as the shapes that readers know: what the envelope of an entry says is put
// back beside what its body says.
#pragma once

#include "sallyport/audit_record.h"
#include "sallyport/json.h"

namespace sallyport::core {

// `entry` has its body opened. What was withheld or erased shows as `{"$sealed":..,"state":..}`.
json::object audit_json(const json::object& entry);    // AU-1
json::object event_json(const json::object& entry);    // EV-79
json::object failure_json(const json::object& entry);  // EV-61

Result<AuditRecord> audit_record_of(const json::object& entry);

}  // namespace sallyport::core
