// Records clients that `serve` rejects: `authorization_denied` with the action `front_admission`
// (EV-10).
//
// A flood of bad tokens must not fill the disk: 32 refusals at once, then one in 30 seconds. The
// others are counted, and the next entry has the count.
#pragma once

#include <cstdint>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "core/event/emitter.h"

namespace sallyport::app {

// Used on a context with one thread. All parts must outlive it.
class AdmissionLog {
 public:
  AdmissionLog(core::Emitter& emitter, const Clock& clock) : emitter_(emitter), clock_(clock) {}

  // `why`: the message to the client. Returns when the entry is written or counted.
  Async<void> record(std::string route, unsigned status, std::string why);

 private:
  bool may_write();

  core::Emitter& emitter_;
  const Clock& clock_;
  double left_ = 32;
  SteadyTime filled_{};
  std::uint64_t unrecorded_ = 0;
};

}  // namespace sallyport::app
