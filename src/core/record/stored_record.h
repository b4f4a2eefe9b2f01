// Converts entries of the ledger to the shapes that readers know. Members of the envelope are put
// back beside those of the body.
#pragma once

#include "sallyport/audit_record.h"
#include "sallyport/json.h"

namespace sallyport::core {

// `entry` has its body opened. Withheld and erased content shows as `{"$sealed":..,"state":..}`.
json::object audit_json(const json::object& entry);    // AU-1
json::object event_json(const json::object& entry);    // EV-79
json::object failure_json(const json::object& entry);  // EV-61

Result<AuditRecord> audit_record_of(const json::object& entry);

}  // namespace sallyport::core
