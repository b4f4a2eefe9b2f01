// What users of this machine tried and were refused, on record. A user who tries without end fills
// no disk: what is over is counted and told with the next entry.
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "core/record/record_log.h"
#include "net/unix_socket.h"

namespace sallyport::app {

// On a strand, or on a context with one thread.
class RefusedCommands {
 public:
  RefusedCommands(core::RecordLog& records, const Clock& clock)
      : records_(records), clock_(clock) {}

  // True: it is on record. False: it was only counted, or could not be written.
  // `what` is the word of a client; only what looks like a command of ours is written down.
  Async<bool> record(net::Peer peer, std::string what);

 private:
  struct Tries {
    double left = 0;
    SteadyTime filled{};
    std::uint64_t untold = 0;
  };
  bool may_write(unsigned uid, std::uint64_t& untold);

  core::RecordLog& records_;
  const Clock& clock_;
  std::map<unsigned, Tries> tries_;  // by uid
};

}  // namespace sallyport::app
