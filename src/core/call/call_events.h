// The events of one call: a row for its next commit, and a message to the hooks.
#pragma once

#include <cstdint>
#include <optional>

#include "base/async.h"
#include "core/call/trail.h"
#include "core/event/emitter.h"

namespace sallyport::core {

// Owned by `Stages`. May be called for different calls on different threads.
class CallEvents {
 public:
  explicit CallEvents(Emitter& emitter) : emitter_(emitter) {}

  // Adds the row of a reporting event and notifies the hooks. A hook that fails becomes a row.
  Async<void> report(Trail& trail, Event event);
  // Notifies the hooks of an event whose row the caller writes. The error names every hook that
  // failed; reporting events have none. `sequence`: position of the row, if it is written.
  Task<void> notify(Trail& trail, const Event& event, std::optional<std::uint64_t> sequence = {});

 private:
  Emitter& emitter_;
};

}  // namespace sallyport::core
