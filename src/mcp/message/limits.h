// How much a peer may cost. Every queue, wait and frame of the gateway is bounded by one of these.
#pragma once

#include <chrono>
#include <cstddef>

#include "sallyport/json.h"

namespace sallyport::mcp {

struct Limits {
  // Of one message. Records, digests and checks hold about 25 copies of a text for a moment and
  // take some 7 us for each member: the largest message costs 400 MiB and 1.7 s of one processor.
  std::size_t frame_bytes = 16u << 20;
  std::size_t depth = 128;              // of its nesting
  std::size_t values = 250'000;         // with the names of members
  std::size_t queue_bytes = 72u << 20;  // that wait for a peer that does not read
  std::size_t calls = 64;               // that run at once; more wait for their turn
  std::size_t waiting_calls = 1024;     // more are refused
  std::size_t requests = 4096;          // that wait for an answer of the server, of any kind
  std::size_t progress = 1024;          // messages of one call that wait for the second door
  std::size_t tools = 10'000;           // of one server
  std::size_t pages = 1000;             // of a list that we read ourselves
  // For the first answer to `initialize`. Some servers install themselves at their first start, and
  // clients have their own limits.
  std::chrono::milliseconds opening{300'000};
  std::chrono::milliseconds start{30'000};  // for every other answer to a request of our own
  std::chrono::milliseconds probe{3'000};   // for the answer that shows its era
  std::chrono::milliseconds together{
      4'000};  // for the last servers of a merged answer, once others answered
  std::chrono::milliseconds parked{600'000};        // for a client to return to a call
  std::chrono::milliseconds waiting_notice{5'000};  // between two notices that a call waits
  std::chrono::milliseconds proposals{500};         // between two checks for answered ones
  std::chrono::milliseconds first_backoff{250};     // before a server that ended is started again
  std::chrono::milliseconds longest_backoff{30'000};
  std::chrono::milliseconds healthy_after{60'000};  // of running, then it counts as healthy
  unsigned failed_starts = 5;                       // of a server that was never ready; then we end
  std::chrono::milliseconds last_answers{1'000};    // for open calls when the client leaves
  std::chrono::milliseconds patience{500};          // for a server that must end

  JsonLimits json() const { return {.bytes = frame_bytes, .depth = depth, .values = values}; }
};

}  // namespace sallyport::mcp
