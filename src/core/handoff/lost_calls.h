// Closes what processes that died left open: calls that waited for a person, and budgets they held.
#pragma once

#include <cstdint>
#include <optional>

#include "base/async.h"
#include "core/approval/approvals.h"
#include "core/call/closer.h"
#include "core/call/governor_parts.h"

namespace sallyport::core {

// Owned by `Stages`.
class LostCalls {
 public:
  LostCalls(const GovernorParts& parts, Approvals& approvals, Closer& closer)
      : parts_(parts), approvals_(approvals), closer_(closer) {}

  // Releases the budget that calls of dead processes hold (CG-55).
  Task<void> reverse_lost_reservations();
  // Ends calls that can no longer run after their question is answered. The question itself stays,
  // and may still be answered before that (AP-20, AP-21).
  Task<void> close_lost_calls();

 private:
  Task<void> close_lost_call(Fact fact, std::uint64_t sequence,
                             std::optional<Approvals::State> state);

  const GovernorParts& parts_;
  Approvals& approvals_;
  Closer& closer_;
};

}  // namespace sallyport::core
