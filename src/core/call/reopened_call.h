// A call of which only the entry that opened it is left: its process died, or it is executed
// elsewhere. Its record is made from that entry, with its body opened.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <vector>

#include "core/call/ending.h"
#include "core/call/idempotency.h"
#include "core/record/recorder.h"
#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/envelope.h"

namespace sallyport::core {

// The start of its record.
Draft reopened(const json::object& entry);
// The tier that its body names; an older record without one counts as `act_with_approval`.
Autonomy tier_in(const json::object& body);
// As far as a record names it.
Call call_of(const Subject& subject);
// What a tool gave, from a result as records and hosts have it.
Envelope envelope_of(const ToolResult& result);
// Takes out what only an intent says, and has the row of idempotency follow the record; no status:
// the row stays as it is.
void take_row(Draft& record, std::optional<Idempotency::Status> status);

}  // namespace sallyport::core
