// The right to work on one session. It renews the lease while it is held, and receives requests of
// other processes for the session (RT-74, RT-77..RT-81).
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "agent/run/runtime_parts.h"
#include "net/task_group.h"

namespace sallyport::agent {

// Use it on the executor of `parts`. `parts` must outlive it.
class SessionLease {
 public:
  // Creates the session if it does not exist. Takes the session over if the process that holds it is
  // dead, or its lease has expired (`SqliteSessions::take_lease`). `Conflict`, cause
  // `lease_unavailable`: another process works on it (RT-79).
  static Task<std::unique_ptr<SessionLease>> take(RuntimeParts& parts, std::string session_id,
                                                  std::string agent_id);
  SessionLease(const SessionLease&) = delete;
  ~SessionLease();

  const std::string& session_id() const { return lease_.session_id; }
  // The lease as last renewed.
  sessions::Lease lease() const { return lease_; }
  // False: the lease has expired, or another process has it. No effect may begin.
  bool valid() const;

  // Callbacks that end or stop the current run. The next run sets its own.
  struct Listener {
    std::function<void(std::string why)> on_lost{};
    std::function<void(sessions::Request request)> on_request{};
  };
  void listen(Listener listener);

  // Stops the renewal and releases the session.
  Async<void> release();

 private:
  SessionLease(RuntimeParts& parts, sessions::Lease lease);
  Async<void> renew_while_held();
  Async<void> watch_for_requests();
  void lose(std::string why);

  RuntimeParts& parts_;
  sessions::Lease lease_;
  Listener listener_;
  std::string lost_;  // why the lease was lost; empty: it is held
  bool released_ = false;
  std::stop_source ending_;
  net::TaskGroup group_;
};

}  // namespace sallyport::agent
