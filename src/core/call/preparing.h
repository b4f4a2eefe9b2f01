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
// fails is cancelled at the tool, once. Returns what is to be told where a rule of a built-in tool
// refused it (EV-42).
Async<std::optional<Event>> prepare(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    const Clock& clock, std::stop_token cancel,
                                    PreparationLimits limits = {});

// Why a preparation can no longer be executed, if so.
std::optional<std::string> expired(const Prepared& prepared, WallTime now);

// A prepared operation that may outlive this process, encrypted, as a fact under the call's row of
// idempotency (AU-78). Nothing: there is none to keep.
std::optional<Fact> kept_preparation(Vault& vault, const Trail& trail);
// The one that an earlier process kept.
std::optional<Prepared> kept_preparation(RecordReader& records, const Vault& vault,
                                         const std::string& row_key);

// Calls off at the tool what was prepared and will not run, once (AU-66).
void drop_preparation(Trail& trail, Upstream& upstream);

}  // namespace sallyport::core
