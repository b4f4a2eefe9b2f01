// Counts calls and reports that came while too many records were owed to keep more, and owed
// entries that cannot be sealed. One entry reports the counts once writing works again.
#pragma once

#include <boost/json.hpp>
#include <cstdint>

#include "base/clock.h"
#include "core/record/draft.h"

namespace sallyport::ledger {

struct TurnedAway {
  std::uint64_t calls = 0;    // refused calls, and results of handed-out calls
  std::uint64_t reports = 0;  // dropped: entries that end no call, and those that cannot be sealed
  WallTime since{};
  WallTime until{};

  bool empty() const { return calls == 0 && reports == 0; }

  // On a topic, because the names of control entries are fixed (LE-68).
  core::Draft draft() const {
    return {.kind = core::Kind::Topic,
            .topic = "turned_away",
            .body = {{"record", "turned_away"},
                     {"calls", calls},
                     {"reports", reports},
                     {"since", rfc3339(since)},
                     {"until", rfc3339(until)}}};
  }
};

}  // namespace sallyport::ledger
