// Copies bytes between a pair of descriptors and a socket, in both directions.
#pragma once

#include <chrono>

#include "sallyport/result.h"

namespace sallyport::net {

struct Pumped {
  int input = -1;   // read, and sent to the socket
  int output = -1;  // gets the bytes of the socket
  int socket = -1;
  std::chrono::milliseconds patience{
      30'000};  // for the end of the socket, once the input has ended
};

// Runs until the input has ended and then the socket, or until the output is no longer read.
// Blocks; at most 64 KiB are queued in each direction. `Unavailable`: the socket ended first.
// `Deadline`: it did not end.
Result<void> pump(const Pumped& ends);

}  // namespace sallyport::net
