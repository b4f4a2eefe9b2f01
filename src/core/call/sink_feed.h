// Gives every audit record to the sinks of the host and of the policy, after the record is durable
// (AU-88).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/async.h"
#include "core/call/governor_parts.h"
#include "core/call/trail.h"
#include "core/record/journal.h"

namespace sallyport::core {

// Owned by `Stages`. Records of one call reach a sink in their order.
class SinkFeed {
 public:
  SinkFeed(const GovernorParts& parts, Journal& journal) : parts_(parts), journal_(journal) {}

  // Gives the record of a call at `sequence` to the sinks. A failed sink becomes a row of the call.
  Async<void> notify_sinks(Trail& trail, std::uint64_t sequence);
  // The same for a call without a trail: failures go to `failed`.
  Async<void> give_to_sinks(std::uint64_t sequence, const Subject& subject,
                            std::vector<Draft>& failed);
  // Gives the sinks the late records, which were written after their caller had left.
  Task<void> deliver_late_records();
  // Writes what `give_to_sinks` collected, or owes it.
  Async<void> note_failures(std::vector<Draft> failed);

 private:
  std::vector<std::shared_ptr<const Sink>> sinks() const;  // of the host, then of the policy
  Async<void> give_late_records(std::vector<Draft>& failed);
  Async<void> give(std::uint64_t sequence, Result<json::object> entry, Subject subject,
                   std::vector<Draft>& failed);

  const GovernorParts& parts_;
  Journal& journal_;
};

}  // namespace sallyport::core
