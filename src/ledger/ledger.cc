#include "ledger/ledger.h"

#include <fmt/format.h>
#include <sys/stat.h>

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

// A passer-by does not replace a copy that is less than a minute old.
bool is_fresh(const std::filesystem::path& file, WallTime now) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return false;
  const auto age = now - WallTime(seconds(status.st_mtime));
  return age >= seconds(0) && age < seconds(60);
}

// How long the loop of a caller who writes in place may stand still.
constexpr auto kStandstill = std::chrono::milliseconds(10);

// A process that writes one call and goes checks so many facts in about a millisecond.
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
// callers that wait for the writer do. What has no size yet is sealed here, so that the queue has a
// bound; and so is what goes into a shared log, where it has the name of this process as it is now.
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

// A group with a draft that no entry can hold has its answer, and leaves the others.
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
  const Aside aside;  // without a helper the loop stands still: what is queued cannot be taken back
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

// The writer thread writes, once all that is ready on the loop of the caller has run. The caller
// writes itself if no other caller has joined it by then.
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

// Nothing: it is for the writer thread, which can wait, and knows what to do about a disk that
// refuses.
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
      // Wakes once a second for what is late: the witness, retention, debts that could not be paid.
      // Gateways of a shared log look more often for those that are lost (SC-31).
      const std::chrono::milliseconds longest =
          committer_parts_.by_lease ? kLooksForLost : std::chrono::milliseconds(1000);
      const auto late =
          std::chrono::steady_clock::now() + (queue_->waiting.empty() ? longest : kLoopStands);
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
      // Debts that the disk refuses go with the process: the next start closes their calls.
      if (stopping) queue_->forget_debts();
    }
    rejoin();
    close_lost();
    announce_next_key();
    if (block_writer_) block_writer_->note_size(committer_.size());
    keep_witness(false);
    apply_retention();
  }
  const MutexLock pen(pen_);
  say_stopped();
  keep_witness(true);
}

void Ledger::say_stopped() {
  if (!settings_.announced || is_final(health())) return;
  Group last;
  last.compose = [this](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_CHECK_OK(view.put_fact({"instance", instance_.get(), std::nullopt}));
    return std::vector{control("stopped", {{"role", settings_.role}})};
  };
  // A process that cannot say so is found dead by the next one that starts.
  (void)committer_.commit({&last});
}

// False when the disk refused.
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
    // A conflict is the end of it: another gateway has closed the call, and the log says so.
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

// What was written took so long that others may close the calls already: their effects must not
// begin (SC-30).
void Ledger::refuse_late(std::vector<Group>& groups) {
  const Result<void> in_time = membership_->may_act();
  for (Group& group : groups) {
    if (!in_time && group.urgency == core::Urgency::Announces && group.result) {
      committer_.note_doubt(group);
      group.result = std::unexpected(in_time.error());
    }
  }
}

// While reports succeed, the ledger is never idle and never probes. So they are also a moment to
// find out that there is room again (LE-77).
void Ledger::restore_reserve() {
  if (reserve_.kept() || !queue_->failed_long_ago(parts_.clock.steady())) return;
  remember(reserve_.keep());
}

// Callers may stay away while the ledger says that it cannot write, so it probes by itself.
void Ledger::probe() {
  const Health now = health();
  if (now.ok || is_final(now)) return;
  Result<void> done = reserve_.keep();
  if (done) done = write_nothing("probed");
  remember(done);
}

// Damage is found while no caller appends, and while other processes write. At most a fiftieth of
// the time goes into it, however many facts there are (LE-54).
void Ledger::watch_facts() {
  const SteadyTime begin = parts_.clock.steady();
  if (!health().ok || (watch_at_ && begin < *watch_at_)) return;
  const Result<bool> changed = parts_.store.changed_elsewhere();
  if (!committer_.take_followed() && !(changed && *changed)) return;
  remember(committer_.check_facts());
  const SteadyTime end = parts_.clock.steady();
  watch_at_ = end + std::max<SteadyTime::duration>(seconds(1), 50 * (end - begin));
}

// Real and synced, with everything before it, but no entry.
Result<void> Ledger::write_nothing(std::string why) {
  return parts_.store.write([&](WriteView& view) -> Result<void> {
    // Nothing is left of it: no seal covers what has no entry.
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

// With the reserve given up there is room for what has happened, and none for what might.
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
    // What the given-up reserve let through is no sign of room.
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

void Ledger::keep_witness(bool now) {
  const std::string& newest = committer_.newest_checkpoint();
  if (settings_.witness.empty() || newest.empty() || newest == witnessed_) return;
  const SteadyTime time = parts_.clock.steady();
  if (!now && witness_written_ && time - *witness_written_ < seconds(1)) return;
  if (settings_.passing && is_fresh(settings_.witness, parts_.clock.wall())) return;
  witness_written_ = time;
  // A witness of what the machine could still lose would contradict the ledger at its next start.
  if (!committer_.is_on_disk() && !write_nothing("witnessed")) return;
  if (replace_private_file(settings_.witness, newest)) witnessed_ = newest;
}

Result<VerifierKey> Ledger::rotate_key(bool compromised, std::string who) {
  SALLYPORT_TRY(const std::shared_ptr<const SigningKey> next, next_key());
  Group group{.rotate_to = next};
  group.compose = [=, this](WriteView& view) -> Result<std::vector<core::Draft>> {
    // Another process may have rotated and not come to this yet; its key must not be staged over.
    SALLYPORT_CHECK_OK(finish_rotation(view));
    SALLYPORT_CHECK_OK(check_announced(view, *next));
    SALLYPORT_CHECK_OK(keys_.stage(*next));
    SALLYPORT_CHECK_OK(view.put_fact({"ledger", "key", next->verifier().text()}));
    core::Draft rotated = control("key_rotated", {{"old", committer_.verifier().text()},
                                                  {"new", next->verifier().text()},
                                                  {"compromised", compromised}});
    if (!who.empty()) rotated.body["who"] = who;
    return std::vector{std::move(rotated)};
  };
  SALLYPORT_CHECK_OK(submit_and_wait(std::move(group)));
  SALLYPORT_CHECK_OK(parts_.store.write([this](WriteView& view) { return finish_rotation(view); }));
  return next->verifier();
}

// The key that the log names takes the old one's place, which is gone then (LE-26).
Result<void> Ledger::finish_rotation(WriteView& view) {
  SALLYPORT_TRY(const std::optional<std::string> current, view.fact("ledger", "key"));
  SALLYPORT_TRY(const std::shared_ptr<const SigningKey> staged, keys_.staged());
  if (!staged || staged->verifier().text() != current) return {};
  return keys_.promote_staged();
}

// One entry for each such period (SC-40).
void Ledger::tell_clock_skew() {
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

void Ledger::apply_retention() {
  constexpr auto kEvery = std::chrono::hours(1);
  const SteadyTime now = parts_.clock.steady();
  if (settings_.retention.empty() || !health().ok) return;
  if (retention_applied_ && now - *retention_applied_ < kEvery) return;
  retention_applied_ = now;
  bool erased = false;
  for (const auto& [kind, age] : settings_.retention) {
    Group group;
    Selection old{.kind = kind, .until = parts_.clock.wall() - age};
    group.compose =
        erase(std::move(old), "retention", fmt::format("older than {} s", age.count()), Held::Skip);
    erased = (committer_.commit({&group}) && group.result) || erased;
  }
  if (erased) (void)parts_.store.scrub();
}

}  // namespace sallyport::ledger
