// Lets a tool prepare, within bounds (AU-64, AU-68).
#pragma once

#include "base/clock.h"
#include "core/call/trail.h"
#include "core/call/upstream.h"
#include "core/record/record_reader.h"
#include "core/record/vault.h"

namespace sallyport::core {

struct PreparationLimits {
  std::chrono::milliseconds silence{30'000};
  std::chrono::milliseconds whole{300'000};
  unsigned steps = 240;
};

// Afterwards the trail has a preparation and its effective input, or is refused. A preparation that
// fails is cancelled at the tool, once. Returns the event to emit if a rule of a built-in tool
// refused it (EV-42).
Async<std::optional<Event>> prepare(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    const Clock& clock, std::stop_token cancel,
                                    PreparationLimits limits = {});

// Returns why a preparation can no longer be executed. No value: it can.
std::optional<std::string> expired(const Prepared& prepared, WallTime now);

// The operation that the trail has prepared, encrypted, as a fact under the call's idempotency row,
// so that it outlives this process (AU-78). No value: it may not be resumed.
std::optional<Fact> kept_preparation(Vault& vault, const Trail& trail);
// Returns the preparation that an earlier process stored.
std::optional<Prepared> kept_preparation(RecordReader& records, const Vault& vault,
                                         const std::string& row_key);

// Cancels at the tool, once, a preparation that will not run (AU-66).
void drop_preparation(Trail& trail, Upstream& upstream);

}  // namespace sallyport::core
