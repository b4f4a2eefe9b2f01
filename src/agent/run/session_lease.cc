#include "agent/run/session_lease.h"

#include "base/try.h"

namespace sallyport::agent {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kLength{30};
constexpr std::chrono::milliseconds kRenewal{10'000};
constexpr std::chrono::milliseconds kAgain{1'000};    // after a renewal that did not work
constexpr std::chrono::milliseconds kListening{300};  // a cancel counts within a second
constexpr std::chrono::milliseconds kEnding{5'000};

}  // namespace

Task<std::unique_ptr<SessionLease>> SessionLease::take(RuntimeParts& parts, std::string session_id,
                                                       std::string agent_id) {
  core::Recorder& recorder = parts.recorder;
  const auto dead = [&recorder](const std::string& instance) { return !recorder.alive(instance); };
  SALLYPORT_CO_TRY(
      sessions::Lease lease,
      co_await on_store(parts, [session_id, agent_id, dead,
                                instance = recorder.instance_id()](sessions::SessionStore& store) {
        return store.take_lease(session_id, agent_id, instance, kLength, dead);
      }));
  std::unique_ptr<SessionLease> session(new SessionLease(parts, std::move(lease)));
  session->group_.start(session->renew_while_held());
  session->group_.start(session->watch_for_requests());
  co_return std::move(session);
}

SessionLease::SessionLease(RuntimeParts& parts, sessions::Lease lease)
    : parts_(parts), lease_(std::move(lease)), group_(parts.executor, parts.log) {}

SessionLease::~SessionLease() {
  ending_.request_stop();
}

bool SessionLease::valid() const {
  return lost_.empty() && !released_ && parts_.clock.wall() < lease_.expires_at;
}

void SessionLease::listen(Listener listener) {
  listener_ = std::move(listener);
  if (!lost_.empty() && listener_.on_lost) listener_.on_lost(lost_);
}

void SessionLease::lose(std::string why) {
  if (!lost_.empty()) return;
  lost_ = std::move(why);
  if (listener_.on_lost) listener_.on_lost(lost_);
}

Async<void> SessionLease::renew_while_held() {
  std::chrono::milliseconds pause = kRenewal;
  while (co_await wait_by_timer(pause, ending_.get_token())) {
    Result<sessions::Lease> renewed = co_await on_store(
        parts_,
        [lease = lease_](sessions::SessionStore& store) { return store.renew(lease, kLength); });
    if (ending_.stop_requested()) co_return;
    if (renewed) {
      lease_ = std::move(*renewed);
      pause = kRenewal;
      continue;
    }
    pause = kAgain;
    const bool taken = renewed.error().code == ErrorCode::Conflict;
    if (taken || !valid()) co_return lose(renewed.error().message);
  }
}

Async<void> SessionLease::watch_for_requests() {
  while (co_await wait_by_timer(kListening, ending_.get_token())) {
    const Result<sessions::Request> request = co_await on_store(
        parts_,
        [id = lease_.session_id](sessions::SessionStore& store) { return store.requested(id); });
    if (ending_.stop_requested()) co_return;
    // A suspended process wakes up here first, and may have lost the session in the meantime.
    if (!valid()) lose("the lease has run out");
    if (request && *request != sessions::Request::None && listener_.on_request) {
      listener_.on_request(*request);
    }
  }
}

Async<void> SessionLease::release() {
  if (std::exchange(released_, true)) co_return;
  listener_ = {};
  ending_.request_stop();
  (void)co_await group_.join(kEnding);
  (void)co_await on_store(
      parts_, [lease = lease_](sessions::SessionStore& store) { return store.release(lease); });
}

}  // namespace sallyport::agent
