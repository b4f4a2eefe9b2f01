// The right to work on one session: a lease that is renewed while it is held, and what other
// processes ask of the one that holds it (RT-74, RT-77..RT-81).
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "agent/run/runtime_parts.h"
#include "net/task_group.h"

namespace sallyport::agent {

// On the executor of `parts`, which outlives it.
class SessionLease {
 public:
  // Makes the session where there is none. `Conflict`, cause `lease_unavailable`: another runtime
  // works on it (RT-79).
  static Task<std::unique_ptr<SessionLease>> take(RuntimeParts& parts, std::string session_id,
                                                  std::string agent_id);
  SessionLease(const SessionLease&) = delete;
  ~SessionLease();

  const std::string& session_id() const { return lease_.session_id; }
  // As it is now; renewed or not.
  sessions::Lease lease() const { return lease_; }
  // False: it has run out, or another runtime has it. No effect may begin.
  bool valid() const;

  // What ends or stops the run at hand. Each is told once; the next run asks anew.
  struct Listener {
    std::function<void(std::string why)> lost{};
    std::function<void(sessions::Request request)> asked{};
  };
  void listen(Listener listener);

  // Ends the renewal and gives the session back.
  Async<void> release();

 private:
  SessionLease(RuntimeParts& parts, sessions::Lease lease);
  Async<void> renew_while_held();
  Async<void> hear_requests();
  void lose(std::string why);

  RuntimeParts& parts_;
  sessions::Lease lease_;
  Listener listener_;
  std::string lost_;  // why; empty: it is held
  bool released_ = false;
  std::stop_source ending_;
  net::TaskGroup group_;
};

}  // namespace sallyport::agent
