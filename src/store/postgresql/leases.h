// Knows which gateways of a shared log are alive. Each gateway increments a number in its own row.
// A gateway is lost when another gateway, connected all the time, has seen that number unchanged for
// a whole lease. Clocks of different machines are never compared. This class only observes;
// `Committer::check_not_lost` refuses the commits of a lost gateway.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "ledger/member/membership.h"
#include "store/postgresql/link.h"
#include "store/shared_log.h"

namespace sallyport::store::postgresql {

// What one observer has seen of the others. Pure: the caller gives the time.
class Observations {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Beat {
    std::string instance;
    std::string host;
    std::int64_t count = 0;
  };

  explicit Observations(std::chrono::milliseconds lease) : lease_(lease) {}

  // One look at all rows. A gap of more than half a lease since the last look is an interruption.
  void see(const std::vector<Beat>& beats, Time now);
  // Nothing was seen: restarts every wait.
  void interrupt();
  std::vector<ledger::Membership::Silent> silent(Time now) const;
  bool knows(const std::string& instance) const { return seen_.contains(instance); }
  std::optional<std::int64_t> count_of(const std::string& instance) const;

 private:
  struct Seen {
    std::string host;
    std::int64_t count = 0;
    Time since{};
  };
  std::chrono::milliseconds lease_;
  std::map<std::string, Seen> seen_;
  std::optional<Time> last_;
};

class Leases final : public ledger::Membership {
 public:
  // `Conflict` names the key that differs from that of the other gateways (SC-53).
  static Result<std::unique_ptr<ledger::Membership>> join(Link::Options options, std::uint64_t log,
                                                          const SharedLog& shared,
                                                          const ledger::Joining& joining,
                                                          const Clock& clock);
  ~Leases() override;

  bool alive(const std::string& instance_id) const override;
  Result<std::shared_ptr<void>> claim(std::string_view key) override;
  bool by_lease() const override { return true; }
  bool holds(const std::shared_ptr<void>& claim) const override;
  Result<void> rejoin(const std::string& instance_id) override;
  Result<void> may_act() const override;
  std::vector<Silent> silent() override;
  Result<bool> is_still_silent(const Silent& silent) override;
  void forget(const Silent& silent) override;

 private:
  using Time = Observations::Time;
  // Shared with claims, which may outlive the ledger.
  struct Desk {
    // Gives a beat priority over waiting claims: a gateway whose beat is late is declared lost.
    class BeatFirst {
     public:
      explicit BeatFirst(Desk& desk) : desk_(desk) { desk_.beat_waits = true; }
      BeatFirst(const BeatFirst&) = delete;
      ~BeatFirst() {
        const MutexLock lock(desk_.mutex);
        desk_.beat_waits = false;
        desk_.beaten.notify_all();
      }

     private:
      Desk& desk_;
    };
    void let_beat_pass() SALLYPORT_REQUIRES(mutex) {
      while (beat_waits) beaten.wait(mutex);
    }

    Mutex mutex;
    Condition beaten;
    std::atomic<bool> beat_waits = false;
    std::unique_ptr<Link> link SALLYPORT_GUARDED_BY(mutex);
    // Claims of an earlier connection are gone with it.
    std::uint64_t generation SALLYPORT_GUARDED_BY(mutex) = 0;
  };
  class Claim;

  Leases(Link::Options options, std::uint64_t log, const SharedLog& shared, std::string instance,
         const Clock& clock);
  Result<void> beat();
  std::string own_name() const;
  Result<Link*> link() const SALLYPORT_REQUIRES(desk_->mutex);
  void work();

  const Link::Options options_;
  const std::uint64_t log_;
  const std::chrono::milliseconds lease_;
  const std::chrono::milliseconds interval_;
  const int replicas_;
  const Clock& clock_;
  std::shared_ptr<Desk> desk_;  // shared with claims, which may outlive this

  struct State;
  mutable Mutex mutex_;
  std::string instance_ SALLYPORT_GUARDED_BY(mutex_);
  Condition wake_;
  bool stopping_ SALLYPORT_GUARDED_BY(mutex_) = false;
  Observations seen_ SALLYPORT_GUARDED_BY(mutex_);
  std::optional<Time> beaten_ SALLYPORT_GUARDED_BY(mutex_);  // when the last good beat was sent
  std::optional<Error> unfit_ SALLYPORT_GUARDED_BY(mutex_);  // why no effect may begin
  std::thread thread_;
};

}  // namespace sallyport::store::postgresql
