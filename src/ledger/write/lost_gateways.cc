// A shared log: a running gateway closes what a lost one left, and a gateway that was declared lost
// continues under a new name.
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>

#include "base/try.h"
#include "ledger/ledger.h"
#include "ledger/write/dead_processes.h"
#include "ledger/write/ledger_queue.h"

namespace sallyport::ledger {

Result<Ledger::Closing> Ledger::close_calls_of(const Membership::Silent& lost) {
  Group group;
  std::vector<std::size_t> closed;
  Closing closing = Closing::Alive;
  group.compose = [&](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(const bool silent, membership_->is_still_silent(lost));
    if (!silent) return std::vector<core::Draft>{};
    DeadProcesses dead(view, *membership_, parts_.close_interrupted);
    SALLYPORT_TRY(const std::size_t calls, dead.close_calls_of(lost.instance));
    SALLYPORT_CHECK_OK(dead.close_fail_open("instance_lost"));
    SALLYPORT_TRY(const std::optional<std::string> named, view.fact("instance", lost.instance));
    closing = calls <= kMostCallsAtOnce ? Closing::Done : Closing::More;
    std::vector<core::Draft> drafts = dead.take_drafts();
    closed = records_among(drafts);
    if (named) {
      core::Draft lost_entry = control("instance_lost", {{"instance", lost.instance},
                                                         {"host", lost.host},
                                                         {"by", instance_.get()},
                                                         {"calls", calls}});
      // From here on `Committer::check_not_lost` refuses the commits of the lost gateway.
      lost_entry.facts.push_back({"instance", lost.instance, std::nullopt});
      drafts.push_back(std::move(lost_entry));
    }
    return drafts;
  };
  SALLYPORT_CHECK_OK(committer_.commit({&group}));
  if (!group.result) return std::unexpected(group.result.error());
  note_late_records(*group.result, closed);
  if (!closed.empty() && late_records_bell_) late_records_bell_();
  return closing;
}

void Ledger::close_lost() {
  const SteadyTime now = parts_.clock.steady();
  if (!membership_->by_lease() || !settings_.announced || !parts_.close_interrupted) return;
  if (!health().ok) return;
  std::vector<Membership::Silent> lost = membership_->silent();
  if (!lost_at_ || now - *lost_at_ >= std::chrono::seconds(1)) {
    lost_at_ = now;
    record_clock_skew();
    // Gateways without a lease that did not write `stopped`.
    const Result<std::vector<core::Fact>> named = facts("instance");
    for (const core::Fact& fact : named ? *named : std::vector<core::Fact>{}) {
      if (!membership_->alive(fact.key)) lost.push_back({fact.key, ""});
    }
  }
  for (const Membership::Silent& each : lost) {
    Result<Closing> closing = Closing::More;
    while (closing && *closing == Closing::More) closing = close_calls_of(each);
    if (!closing) return remember(std::unexpected(closing.error()));
    if (*closing == Closing::Done) membership_->forget(each);
  }
}

// One entry for each such period (SC-40).
void Ledger::record_clock_skew() {
  const Result<void> fit = membership_->may_act();
  const bool skewed = !fit && fit.error().cause == "clock";
  if (!std::exchange(skewed_, skewed) && skewed) {
    Group group;
    group.compose = [](WriteView&) -> Result<std::vector<core::Draft>> {
      return std::vector{control("clock_skew", {})};
    };
    (void)committer_.commit({&group});
  }
}

// A gateway that was declared lost continues under a new name. Its earlier calls are closed, and
// their outcomes are reported as late (SC-33).
void Ledger::rejoin() {
  if (!membership_->by_lease() || !settings_.announced) return;
  const Result<void> fit = membership_->may_act();
  const bool fenced = health().cause == "fenced" || (!fit && fit.error().cause == "fenced");
  if (!fenced) return;
  const std::string before = instance_.get();
  const std::string name = uuid7_text(parts_.clock, parts_.entropy);
  if (!membership_->rejoin(name)) return;  // tried again in a second
  instance_.renew(name);
  committer_.left();
  announced_key_.clear();
  Group group;
  group.compose = [&](WriteView&) -> Result<std::vector<core::Draft>> {
    json::object details{{"role", settings_.role},
                         {"process", static_cast<std::int64_t>(getpid())},
                         {"key", committer_.verifier().text()},
                         {"rejoined", before}};
    core::Draft started = control("started", std::move(details));
    started.facts.push_back({"instance", name, "{}"});
    return std::vector{std::move(started)};
  };
  if (!committer_.commit({&group}) || !group.result) return;
  committer_.joined();
  const MutexLock lock(queue_->mutex);
  if (queue_->health.cause == "fenced") queue_->health = {};
}

}  // namespace sallyport::ledger
