#include "ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <shared_mutex>

#include "base/loop_crew.h"
#include "base/try.h"
#include "ledger/entry/trust_link.h"
#include "ledger/maintenance.h"
#include "ledger/read/store_reader.h"
#include "ledger/secret/private_file.h"
#include "ledger/write/answers.h"
#include "ledger/write/ledger_queue.h"

namespace sallyport::ledger {

namespace asio = boost::asio;
using std::chrono::seconds;

namespace {

constexpr auto kLooksForLost = std::chrono::milliseconds(200);

// The longest time for which a caller that writes in place may block its loop.
constexpr auto kStandstill = std::chrono::milliseconds(10);

// A process that writes one call and ends checks this many facts in about a millisecond.
constexpr std::uint64_t kMostFactsInPassing = 1000;

}  // namespace

struct Ledger::Door {
  std::shared_mutex mutex;
  Ledger* ledger;  // null when it is gone
};

Ledger::Ledger(Parts parts, Settings settings, KeyFolder keys, Secrets secrets,
               std::unique_ptr<Membership> membership, std::shared_ptr<const Signer> signer,
               std::string instance_id)
    : parts_(std::move(parts)),
      settings_(std::move(settings)),
      keys_(std::move(keys)),
      digest_(std::move(secrets.digest)),
      box_(std::move(secrets.box)),
      membership_(std::move(membership)),
      reserve_(settings_.data_folder / "reserve", settings_.reserve_bytes),
      instance_(std::move(instance_id)),
      committer_parts_{parts_.store,
                       keys_,
                       parts_.redactor,
                       *digest_,
                       parts_.clock,
                       parts_.entropy,
                       instance_,
                       settings_.passing ? kMostFactsInPassing : UINT64_MAX,
                       membership_->by_lease()},
      origin_(signer->verifier().name),
      committer_(committer_parts_, std::move(signer)),
      queue_(std::make_unique<Queue>()),
      door_(std::make_shared<Door>()) {
  door_->ledger = this;
}

Ledger::~Ledger() {
  {
    const std::lock_guard lock(door_->mutex);
    door_->ledger = nullptr;
  }
  if (!writer_.joinable()) return;
  {
    const MutexLock lock(queue_->mutex);
    queue_->stopping = true;
  }
  queue_->wake.notify_all();
  writer_.join();
}

Task<std::vector<core::Position>> Ledger::append(std::vector<core::Draft> drafts,
                                                 core::Urgency urgency,
                                                 std::vector<core::Fact> expected) {
  SALLYPORT_CO_TRY(Group group, group_of(std::move(drafts), urgency));
  group.expected = std::move(expected);
  const auto initiate = [this](auto handler, Group waiting) {
    const auto executor = asio::get_associated_executor(handler);
    waiting.executor = executor;
    waiting.done = [handler = std::move(handler), work = asio::make_work_guard(executor)](
                       Result<Positions> result) mutable { std::move(handler)(std::move(result)); };
    submit(std::move(waiting));
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(Result<Positions>)>(
      initiate, asio::use_awaitable, std::move(group));
}

void Ledger::note_speed(SteadyTime begin) {
  quick_ = parts_.clock.steady() - begin <= kStandstill;
}

Result<Positions> Ledger::append_blocking(std::vector<core::Draft> drafts, core::Urgency urgency) {
  SALLYPORT_TRY(Group group, group_of(std::move(drafts), urgency));
  return submit_and_wait(std::move(group));
}

Result<Positions> Ledger::transact(Group::Compose compose) {
  return submit_and_wait({.compose = std::move(compose)});
}

// Callers share the cost of sealing with the writer: a writer that waits for its callers seals, and
// callers that wait for the writer do. Drafts of unknown size are sealed here, to bound the queue.
// So are drafts for a shared log, which carry the current name of this process.
Result<Group> Ledger::group_of(std::vector<core::Draft> drafts, core::Urgency urgency) {
  if (std::ranges::any_of(drafts, is_trust_control)) return refuse_control();
  Group group{.unsealed = std::move(drafts), .urgency = urgency};
  const auto has_text = [](const core::Draft& draft) { return draft.body.text_size().has_value(); };
  const auto may_be_written = [](const core::Draft& draft) { return draft.id && !draft.fresh_id; };
  group.waits_for_disk = std::ranges::any_of(group.unsealed, &core::Draft::waits_for_disk);
  group.known_ids = std::ranges::any_of(group.unsealed, may_be_written);
  const bool here = committer_parts_.by_lease || !std::ranges::all_of(group.unsealed, has_text) ||
                    queue_->is_long();
  if (here) SALLYPORT_CHECK_OK(committer_.seal(group));
  return group;
}

// Answers a group with a draft that no entry can hold, and removes it from the others.
void Ledger::seal(std::vector<Group>& groups) {
  Answers answers;
  for (auto group = groups.begin(); group != groups.end();) {
    if (const Result<void> done = committer_.seal(*group); !done) {
      group->result = std::unexpected(done.error());
      answers.add(std::move(*group));
      group = groups.erase(group);
    } else {
      ++group;
    }
  }
}

Result<Positions> Ledger::submit_and_wait(Group group) {
  std::promise<Result<Positions>> promise;
  std::future<Result<Positions>> answer = promise.get_future();
  group.done = [&promise](Result<Positions> result) { promise.set_value(std::move(result)); };
  // A queued group cannot be withdrawn, so this waits even if no helper takes over the loop.
  const Aside aside;
  submit(std::move(group));
  return answer.get();
}

// No caller can change a tier through the append that calls use (TR-17).
std::unexpected<Error> Ledger::refuse_control() {
  owe({control("refused_control", {{"who", instance_.get()}, {"what", "trust"}})});
  queue_->wake.notify_one();
  return fail(ErrorCode::Unauthenticated,
              "a tier is changed by a signed command only, see `sallyport trust promote`");
}

void Ledger::submit(Group group) {
  const asio::any_io_executor executor = group.executor;
  Result<bool> alone = true;
  if (group.urgency == core::Urgency::Announces && !group.compose) {
    if (const Result<void> fit = membership_->may_act(); !fit) alone = std::unexpected(fit.error());
  }
  if (alone) alone = queue_->add(group, parts_.clock.steady());
  if (alone) return call_for_writing(executor, *alone);
  group.result = std::unexpected(alone.error());
  Answers().add(std::move(group));
}

// The writer thread writes once everything ready on the loop of the caller has run. If no other
// caller has joined by then, the caller writes itself.
void Ledger::call_for_writing(const asio::any_io_executor& executor, bool alone) {
  if (!queue_->promises(executor)) return;
  // Keeps the promise also of a loop that ends before it.
  struct Promise {
    std::shared_ptr<Door> door;
    Promise(std::shared_ptr<Door> to) : door(std::move(to)) {}
    Promise(Promise&&) = default;
    ~Promise() {
      if (!door) return;
      const std::shared_lock lock(door->mutex);
      if (door->ledger != nullptr) door->ledger->queue_->call_writer();
    }
  };
  const bool in_place = settings_.in_place && alone && quick_;
  asio::post(executor, [promise = Promise(door_), executor, in_place]() mutable {
    std::optional<Group> written;
    {
      const Promise kept = std::move(promise);
      const std::shared_lock lock(kept.door->mutex);
      if (in_place && kept.door->ledger != nullptr) {
        written = kept.door->ledger->write_in_place(executor);
      }
    }
    if (written) written->done(std::move(written->result));
  });
}

// No value: the writer thread must do it, because it may wait, and it handles a disk that refuses.
std::optional<Group> Ledger::write_in_place(const asio::any_io_executor& executor) {
  if (pen_.try_lock()) {
    const MutexLock pen(pen_, std::adopt_lock);
    std::optional<Group> lone = reserve_.kept() ? queue_->take_lone(executor) : std::nullopt;
    if (lone) {
      if (const Result<void> sealed = committer_.seal(*lone); !sealed) {
        lone->result = std::unexpected(sealed.error());
        return lone;
      }
      const SteadyTime begin = parts_.clock.steady();
      const Result<void> done = committer_.commit_at_once(*lone);
      note_speed(begin);
      if (done) return lone;
      queue_->put_back(std::move(*lone));
    }
  }
  return std::nullopt;
}

void Ledger::work() {
  while (true) {
    {
      const MutexLock lock(queue_->mutex);
      // Wakes once a second for overdue work: the kept checkpoint, retention, owed records. Gateways
      // of a shared log look more often for lost gateways (SC-31).
      const std::chrono::milliseconds longest =
          committer_parts_.by_lease ? kLooksForLost : std::chrono::milliseconds(1000);
      const auto late =
          std::chrono::steady_clock::now() + (queue_->waiting.empty() ? longest : kLoopBlocked);
      while (!queue_->has_work() && queue_->wake.wait_until(queue_->mutex, late)) {
      }
    }
    const MutexLock pen(pen_);
    std::vector<Group> groups;
    bool stopping = false;
    {
      const MutexLock lock(queue_->mutex);
      groups = queue_->take();
      stopping = queue_->stopping;
      if (groups.empty() && stopping) break;
    }
    const bool idle = groups.empty();
    seal(groups);
    if (idle) {
      probe();
      watch_facts();
    } else if (!groups.empty() && !settle(std::move(groups))) {
      refuse_blocked();
      // Owed records that the disk refuses end with the process: the next start closes their calls.
      if (stopping) queue_->forget_debts();
    }
    rejoin();
    close_lost();
    announce_next_key();
    if (block_writer_) block_writer_->note_size(committer_.size());
    keep_checkpoint(false);
    apply_retention();
    scrub_if_owed();
  }
  const MutexLock pen(pen_);
  record_stopped();
  keep_checkpoint(true);
}

void Ledger::record_stopped() {
  if (!settings_.announced || is_final(health())) return;
  Group last;
  last.compose = [this](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_CHECK_OK(view.put_fact({"instance", instance_.get(), std::nullopt}));
    return std::vector{control("stopped", {{"role", settings_.role}})};
  };
  // If `stopped` cannot be written, the next process that starts finds this one dead.
  (void)committer_.commit({&last});
}

// False: the disk refused.
bool Ledger::settle(std::vector<Group> groups) {
  const bool announces = std::ranges::any_of(
      groups, [](const Group& group) { return group.urgency == core::Urgency::Announces; });
  const Health before = health();
  Result<void> done = is_final(before) ? Result<void>(refusal_by(before)) : Result<void>{};
  if (done && announces) done = reserve_.keep();
  if (done) done = commit(groups);
  for (Group& group : groups) {
    if (!done) group.result = std::unexpected(done.error());
    if (!done && done.error().cause == "in_doubt") committer_.note_doubt(group);
  }
  if (done && announces) refuse_late(groups);
  if (!done && done.error().cause == "no_space") {
    reserve_.give_up();
    commit_reports(groups);
  }
  if (done && !before.ok) restore_reserve();
  remember(done);
  std::vector<Group> still_owed;
  Answers answers;
  std::size_t paid = 0;
  for (Group& group : groups) {
    // A conflict is final: another gateway has closed the call, and the log says so.
    if (group.owed && !group.result && group.result.error().code != ErrorCode::Conflict) {
      still_owed.push_back(std::move(group));
      continue;
    }
    if (group.owed) paid += owed_weight(group);
    answers.add(std::move(group));
  }
  queue_->pay(paid);
  owe_again(std::move(still_owed));
  return done.has_value();
}

// The commit took so long that others may already close the calls: their effects must not begin
// (SC-30).
void Ledger::refuse_late(std::vector<Group>& groups) {
  const Result<void> in_time = membership_->may_act();
  for (Group& group : groups) {
    if (!in_time && group.urgency == core::Urgency::Announces && group.result) {
      committer_.note_doubt(group);
      group.result = std::unexpected(in_time.error());
    }
  }
}

// While reports succeed, the ledger is never idle and never probes. So it also checks here whether
// there is room again (LE-77).
void Ledger::restore_reserve() {
  if (reserve_.kept() || !queue_->failed_long_ago(parts_.clock.steady())) return;
  remember(reserve_.keep());
}

// Callers may stay away while the ledger cannot write, so it probes on its own.
void Ledger::probe() {
  const Health now = health();
  if (now.ok || is_final(now)) return;
  Result<void> done = reserve_.keep();
  if (done) done = write_nothing("probed");
  remember(done);
}

// Finds damage while no caller appends and while other processes write. This takes at most a
// fiftieth of the time, for any number of facts (LE-54).
void Ledger::watch_facts() {
  const SteadyTime begin = parts_.clock.steady();
  if (!health().ok || (watch_at_ && begin < *watch_at_)) return;
  const Result<bool> changed = parts_.store.changed_elsewhere();
  if (!committer_.take_followed() && !(changed && *changed)) return;
  remember(committer_.check_facts());
  const SteadyTime end = parts_.clock.steady();
  watch_at_ = end + std::max<SteadyTime::duration>(seconds(1), 50 * (end - begin));
}

// Makes a real, synced commit without an entry. Everything before it is synced too.
Result<void> Ledger::write_nothing(std::string why) {
  return parts_.store.write([&](WriteView& view) -> Result<void> {
    // Removes the fact again, because no seal covers a fact without an entry.
    SALLYPORT_CHECK_OK(view.put_fact({"ledger", why, rfc3339(parts_.clock.wall())}));
    return view.put_fact({"ledger", why, std::nullopt});
  });
}

Result<void> Ledger::commit(std::vector<Group>& groups) {
  std::vector<Group*> all;
  for (Group& group : groups) all.push_back(&group);
  const SteadyTime begin = parts_.clock.steady();
  Result<void> done = committer_.commit(all);
  note_speed(begin);
  return done;
}

// Without the reserve there is room for reports of past effects, and none for new effects.
void Ledger::commit_reports(std::vector<Group>& groups) {
  std::vector<Group*> reports;
  for (Group& group : groups) {
    if (group.urgency == core::Urgency::Reports) reports.push_back(&group);
  }
  if (reports.empty()) return;
  const Result<void> done = committer_.commit(reports);
  for (Group* const group : reports) {
    if (!done) group->result = std::unexpected(done.error());
  }
}

void Ledger::remember(const Result<void>& outcome) {
  const MutexLock lock(queue_->mutex);
  if (is_final(queue_->health)) return;
  if (outcome) {
    // A commit that used the given-up reserve is no sign of free space.
    if (reserve_.kept()) queue_->health = {};
  } else if (!outcome.error().cause.empty()) {
    queue_->health = {false, outcome.error().cause, outcome.error().message};
    queue_->failed_at = parts_.clock.steady();
  }
}

Health Ledger::health() const {
  const MutexLock lock(queue_->mutex);
  return queue_->health;
}

Result<void> Ledger::ready() const {
  SALLYPORT_CHECK_OK(membership_->may_act());
  const MutexLock lock(queue_->mutex);
  if (!queue_->health.ok) return refusal_by(queue_->health);
  if (queue_->owed.empty()) return {};
  return ledger_unavailable("busy", "records of earlier calls are still owed");
}

Result<std::optional<std::string>> Ledger::fact(std::string_view space, std::string_view key) {
  return StoreReader(parts_.store).fact(space, key);
}

Result<std::vector<core::Fact>> Ledger::facts(std::string_view space) {
  return StoreReader(parts_.store).facts(space);
}

Result<core::RecordReader::Moment> Ledger::moment(const std::vector<core::FactKey>& keys) {
  return StoreReader(parts_.store).moment(keys);
}

std::uint64_t Ledger::size_seen() {
  const std::uint64_t seen = committer_.size_seen();
  return seen > 0 ? seen : RecordReader::size_seen();  // this process has written nothing yet
}

Result<json::object> Ledger::entry(std::uint64_t sequence) {
  return StoreReader(parts_.store).entry(sequence);
}

bool Ledger::alive(const std::string& instance_id) const {
  return membership_->alive(instance_id);
}

std::string Ledger::encrypt(std::string_view text) {
  return box_.seal(text, parts_.entropy);
}

Result<std::string> Ledger::decrypt(std::string_view sealed) const {
  return box_.open(sealed);
}

Result<VerifierKey> Ledger::rotate_key(bool compromised, std::string actor) {
  SALLYPORT_TRY(const std::shared_ptr<const SigningKey> next, next_key());
  Group group{.rotate_to = next};
  group.compose = [=, this](WriteView& view) -> Result<std::vector<core::Draft>> {
    // Another process may have rotated without finishing; its staged key must not be replaced.
    SALLYPORT_CHECK_OK(finish_rotation(view));
    SALLYPORT_CHECK_OK(check_announced(view, *next));
    SALLYPORT_CHECK_OK(keys_.stage(*next));
    SALLYPORT_CHECK_OK(view.put_fact({"ledger", "key", next->verifier().text()}));
    core::Draft rotated = control("key_rotated", {{"old", committer_.verifier().text()},
                                                  {"new", next->verifier().text()},
                                                  {"compromised", compromised}});
    if (!actor.empty()) rotated.body["who"] = actor;
    return std::vector{std::move(rotated)};
  };
  SALLYPORT_CHECK_OK(submit_and_wait(std::move(group)));
  SALLYPORT_CHECK_OK(parts_.store.write([this](WriteView& view) { return finish_rotation(view); }));
  return next->verifier();
}

// Replaces the old key by the key that the log names (LE-26).
Result<void> Ledger::finish_rotation(WriteView& view) {
  SALLYPORT_TRY(const std::optional<std::string> current, view.fact("ledger", "key"));
  SALLYPORT_TRY(const std::shared_ptr<const SigningKey> staged, keys_.staged());
  if (!staged || staged->verifier().text() != current) return {};
  return keys_.promote_staged();
}

}  // namespace sallyport::ledger
