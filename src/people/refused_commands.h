// Records the commands that users of this machine were refused. Endless attempts do not fill the
// disk: attempts over the limit are counted, and the next entry has the count.
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "core/record/record_log.h"
#include "net/unix_socket.h"

namespace sallyport::app {

// Used on a strand, or on a context with one thread.
class RefusedCommands {
 public:
  RefusedCommands(core::RecordLog& records, const Clock& clock)
      : records_(records), clock_(clock) {}

  // True: it is recorded. False: it was only counted, or could not be written. `command` comes from
  // the client; it is recorded only if it looks like a command of ours.
  Async<bool> record(net::Peer peer, std::string command);

 private:
  struct Tries {
    double left = 0;
    SteadyTime filled{};
    std::uint64_t unrecorded = 0;
  };
  bool may_write(unsigned uid, std::uint64_t& unrecorded);

  core::RecordLog& records_;
  const Clock& clock_;
  std::map<unsigned, Tries> tries_;  // by uid
};

}  // namespace sallyport::app
