// Receives the output of a running upstream: pieces of its answer, which wait for the second door,
// and progress messages, which pass that door one by one.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/plan/fail_open.h"
#include "core/plan/pipeline.h"
#include "core/plan/plan.h"
#include "core/plan/stream_limits.h"
#include "sallyport/event.h"

namespace sallyport::core {

// The Governor and the upstream share it: an abandoned call may still write into it, and is then
// ignored. Used on the strand of its call.
class Delivery {
 public:
  // Receives progress messages. Empty: they are dropped (PI-29).
  using Forward = std::function<void(const json::value& message)>;

  struct Parts {
    std::shared_ptr<const Plan> plan;
    ResultContext context;
    const Clock& clock;
    FailOpenLog& fail_open;
    Forward forward;
  };
  explicit Delivery(Parts parts);

  // Adds a piece of the answer. False: a limit is reached or the call is over; send no more.
  bool add(json::value chunk);
  // Returns all pieces, as the answer of a stream that ended by itself.
  Envelope finish();

  // Sends a progress or log message. A message that a guard blocks is dropped.
  Async<void> progress(json::value message);

  // Reports that a rule of the tool itself refuses the request, between start and finish (EV-42).
  void deny(event::DeniedAction action, std::string detail);

  // Called by the Governor: nothing is taken from here on.
  void close() { closed_ = true; }
  bool closed() const { return closed_; }
  const Plan& plan() const { return *parts_.plan; }
  const ResultContext& context() const { return parts_.context; }
  bool has_chunks() const { return !stream_.chunks.empty(); }
  Envelope cut(std::string reason);
  FailOpen& fail_open() { return fail_open_; }
  std::vector<Escalation> take_escalations() { return std::exchange(escalations_, {}); }
  std::vector<Finding> take_findings() { return std::exchange(findings_, {}); }
  std::vector<Event> take_denials() { return std::exchange(denials_, {}); }

 private:
  Parts parts_;
  FailOpen fail_open_;
  SteadyTime begin_;
  Envelope stream_;
  std::size_t bytes_ = 0;
  std::vector<Escalation> escalations_;
  std::vector<Finding> findings_;
  std::vector<Event> denials_;
  bool closed_ = false;
};

}  // namespace sallyport::core
