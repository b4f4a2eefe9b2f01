// Carries bytes between a pair of descriptors and a socket, both ways, as they come.
#pragma once

#include <chrono>

#include "sallyport/result.h"

namespace sallyport::net {

struct Pumped {
  int input = -1;   // read, and sent to the socket
  int output = -1;  // gets what the socket says
  int socket = -1;
  std::chrono::milliseconds patience{
      30'000};  // for the socket's last word once the input has ended
};

// Until the input has ended and the socket after it, or nobody reads the output any more. Blocks;
// at most 64 KiB wait on each way. `Unavailable`: the socket ended first. `Deadline`: it did not
// end.
Result<void> pump(const Pumped& ends);

}  // namespace sallyport::net
