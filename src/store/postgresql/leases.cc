#include "store/postgresql/leases.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/clock.h"
#include "base/digest.h"
#include "base/loop_crew.h"
#include "base/try.h"
#include "base/uuid.h"
#include "ledger/store.h"
#include "store/postgresql/engine_check.h"

namespace sallyport::store::postgresql {

using ledger::ledger_unavailable;
using Steady = std::chrono::steady_clock;

namespace {

constexpr auto kMostSkew = std::chrono::seconds(2);
// The longest wait for the row of a gateway, or for a claim.
constexpr auto kPatience = std::chrono::milliseconds(1000);

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string bytes_of(std::string_view instance) {
  const std::optional<Uuid> id = parse_uuid(instance);
  return id ? std::string(as_text(*id)) : std::string(16, '\0');
}

std::string text_from(std::string_view stored) {
  Uuid id{};
  if (stored.size() == id.size()) std::memcpy(id.data(), stored.data(), id.size());
  return to_string(id);
}

// If two keys have the same number, one claim is refused while the other is held.
Param claim_number(std::uint64_t log, std::string_view key) {
  const Hash hash = sha256(fmt::format("{}\n{}", log, key));
  std::uint64_t place = 0;
  std::memcpy(&place, hash.data(), sizeof(place));
  return number(place);
}

Result<void> check_keys(Link& link, std::uint64_t log, const ledger::Joining& joining) {
  for (const auto& [file, id] : joining.key_ids) {
    link.put(
        "INSERT INTO log_keys (log, file, id) VALUES ($1::int8, $2::text, $3::text) ON "
        "CONFLICT DO NOTHING",
        {number(log), bytes(file), bytes(id)});
  }
  SALLYPORT_CHECK_OK(link.flush());
  SALLYPORT_TRY(const Rows rows,
                link.ask("SELECT file, id FROM log_keys WHERE log = $1::int8", {number(log)}));
  for (int row = 0; row < rows.size(); ++row) {
    const auto mine = joining.key_ids.find(std::string(rows.bytes(row, 0)));
    if (mine == joining.key_ids.end() || mine->second == rows.bytes(row, 1)) continue;
    return fail(ErrorCode::Conflict,
                fmt::format("keys/{} is not that of the other gateways of this log; copy the keys "
                            "folder of one of them",
                            mine->first),
                {}, "io");
  }
  return {};
}

}  // namespace

void Observations::see(const std::vector<Beat>& beats, Time now) {
  const bool interrupted = !last_ || now - *last_ > lease_ / 2;
  std::map<std::string, Seen> next;
  for (const Beat& beat : beats) {
    const auto before = seen_.find(beat.instance);
    const bool same = before != seen_.end() && before->second.count == beat.count;
    const Time since = same && !interrupted ? before->second.since : now;
    next[beat.instance] = {beat.host, beat.count, since};
  }
  seen_ = std::move(next);
  last_ = now;
}

void Observations::interrupt() {
  last_.reset();
}

std::vector<ledger::Membership::Silent> Observations::silent(Time now) const {
  std::vector<ledger::Membership::Silent> out;
  // Old observations prove nothing.
  if (!last_ || now - *last_ > lease_ / 2) return out;
  for (const auto& [instance, seen] : seen_) {
    // `is_still_silent` checks again before the gateway is declared lost.
    if (now - seen.since >= lease_) out.push_back({instance, seen.host});
  }
  return out;
}

std::optional<std::int64_t> Observations::count_of(const std::string& instance) const {
  const auto found = seen_.find(instance);
  if (found == seen_.end()) return std::nullopt;
  return found->second.count;
}

class Leases::Claim {
 public:
  Claim(std::shared_ptr<Desk> desk, std::uint64_t generation, Param place)
      : desk_(std::move(desk)), generation_(generation), place_(std::move(place)) {}
  Claim(const Claim&) = delete;
  bool holds() const {
    const MutexLock lock(desk_->mutex);
    return desk_->link && !desk_->link->broken() && desk_->generation == generation_;
  }
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    const Aside aside;  // the lock must be released, even if no helper takes over the loop
    const MutexLock lock(desk_->mutex);
    desk_->let_beat_pass();
    if (!desk_->link || desk_->link->broken() || desk_->generation != generation_) return;
    (void)desk_->link->ask("SELECT pg_advisory_unlock($1::int8)", {place_});
  }

 private:
  std::shared_ptr<Desk> desk_;  // shared: the last one closes it
  std::uint64_t generation_;
  Param place_;
};

Leases::Leases(Link::Options options, std::uint64_t log, const SharedLog& shared,
               std::string instance, const Clock& clock)
    : options_(std::move(options)),
      log_(log),
      lease_(shared.lease),
      interval_(shared.lease / 5),
      replicas_(shared.replicas),
      clock_(clock),
      desk_(std::make_shared<Desk>()),
      instance_(std::move(instance)),
      seen_(shared.lease) {}

Result<std::unique_ptr<ledger::Membership>> Leases::join(Link::Options options, std::uint64_t log,
                                                         const SharedLog& shared,
                                                         const ledger::Joining& joining,
                                                         const Clock& clock) {
  options.patience = std::min<std::chrono::milliseconds>(options.patience, kPatience);
  options.application = "sallyport beats";
  options.repeats = true;
  std::unique_ptr<Leases> leases(new Leases(options, log, shared, joining.instance_id, clock));
  {
    const MutexLock lock(leases->desk_->mutex);
    SALLYPORT_TRY(Link* const link, leases->link());
    SALLYPORT_CHECK_OK(check_keys(*link, log, joining));
    SALLYPORT_CHECK_OK(link->ask(
        "INSERT INTO beats (log, instance, host, beat) VALUES ($1::int8, $2::uuid, $3::text, 0)",
        {number(log), bytes(bytes_of(joining.instance_id)), bytes(host_name())}));
  }
  SALLYPORT_CHECK_OK(leases->beat());
  SALLYPORT_CHECK_OK(leases->may_act());
  leases->thread_ = std::thread([raw = leases.get()] { raw->work(); });
  return leases;
}

Leases::~Leases() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  const MutexLock lock(desk_->mutex);
  if (desk_->link && !desk_->link->broken()) {
    (void)desk_->link->ask("DELETE FROM beats WHERE log = $1::int8 AND instance = $2::uuid",
                           {number(log_), bytes(bytes_of(own_name()))});
  }
  desk_->link.reset();
}

Result<Link*> Leases::link() const {
  if (desk_->link && desk_->link->still_there()) return desk_->link.get();
  desk_->link.reset();
  SALLYPORT_TRY(desk_->link, Link::open(options_));
  ++desk_->generation;
  // A beat that is lost with the database does no harm.
  SALLYPORT_CHECK_OK(desk_->link->ask("SET synchronous_commit = off"));
  return desk_->link.get();
}

Result<void> Leases::beat() {
  const Time sent = Steady::now();
  const std::string name = own_name();
  std::vector<Observations::Beat> beats;
  std::optional<Error> unfit;
  {
    const Desk::BeatFirst first(*desk_);
    const MutexLock lock(desk_->mutex);
    SALLYPORT_TRY(Link* const link, this->link());
    link->put("UPDATE beats SET beat = beat + 1 WHERE log = $1::int8 AND instance = $2::uuid",
              {number(log_), bytes(bytes_of(name))});
    link->put("SELECT instance, host, beat FROM beats WHERE log = $1::int8", {number(log_)});
    link->put(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8, "
        "pg_is_in_recovery(), current_setting('synchronous_standby_names')");
    const WallTime before = clock_.wall();
    SALLYPORT_TRY(const std::vector<Rows> answers, link->flush());
    const WallTime after = clock_.wall();
    for (int row = 0; row < answers[1].size(); ++row) {
      beats.push_back({text_from(answers[1].bytes(row, 0)), std::string(answers[1].bytes(row, 1)),
                       answers[1].number(row, 2)});
    }
    const WallTime theirs{std::chrono::microseconds(answers[2].number(0, 0))};
    if (answers[0].affected() == 0) {
      unfit = ledger_unavailable("fenced", "other gateways have declared this one lost").error();
    } else if (theirs + kMostSkew < before || theirs > after + kMostSkew) {
      unfit = ledger_unavailable(
                  "clock",
                  "the clock of this machine and that of the database differ by more than "
                  "2 s; set them")
                  .error();
    } else if (answers[2].number(0, 1) != 0) {
      unfit = ledger_unavailable("read_only", "the database has become a standby").error();
    } else if (standbys_waited_for(answers[2].bytes(0, 2)) < replicas_) {
      unfit = ledger_unavailable("io",
                                 "the database no longer waits for the standbys that "
                                 "ledger.store.replicas asks for")
                  .error();
    }
  }
  const MutexLock lock(mutex_);
  if (name != instance_) return {};  // the beat was for the earlier name
  seen_.see(beats, Steady::now());
  unfit_ = unfit;
  if (!unfit_ || unfit_->cause != "fenced") beaten_ = sent;
  return {};
}

void Leases::work() {
  Time next = Steady::now() + interval_;
  while (true) {
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && Steady::now() < next) wake_.wait_until(mutex_, next);
      if (stopping_) return;
    }
    next = Steady::now() + interval_;
    if (beat()) continue;
    const MutexLock lock(mutex_);
    seen_.interrupt();
  }
}

bool Leases::alive(const std::string& instance_id) const {
  {
    const MutexLock lock(mutex_);
    if (instance_id == instance_) return true;
    if (seen_.knows(instance_id)) return true;
  }
  const Aside aside;
  if (!aside.may_wait()) return true;
  const MutexLock lock(desk_->mutex);
  desk_->let_beat_pass();
  const Result<Link*> link = this->link();
  if (!link) return true;  // an unreachable database declares no instance dead
  const Result<Rows> rows =
      (*link)->ask("SELECT 1 FROM beats WHERE log = $1::int8 AND instance = $2::uuid",
                   {number(log_), bytes(bytes_of(instance_id))});
  return !rows || rows->size() > 0;
}

Result<std::shared_ptr<void>> Leases::claim(std::string_view key) {
  const Param place = claim_number(log_, key);
  const Aside aside;
  if (!aside.may_wait()) {
    return ledger_unavailable("busy", "too many calls wait for the database");
  }
  const MutexLock lock(desk_->mutex);
  desk_->let_beat_pass();
  SALLYPORT_TRY(Link* const link, this->link());
  SALLYPORT_TRY(const Rows rows, link->ask("SELECT pg_try_advisory_lock($1::int8)", {place}));
  if (rows.number(0, 0) == 0) return nullptr;
  return std::make_shared<Claim>(desk_, desk_->generation, place);
}

bool Leases::holds(const std::shared_ptr<void>& claim) const {
  return claim && std::static_pointer_cast<Claim>(claim)->holds();
}

std::string Leases::own_name() const {
  const MutexLock lock(mutex_);
  return instance_;
}

// The earlier row stays for the gateways that close its calls.
Result<void> Leases::rejoin(const std::string& instance_id) {
  {
    const MutexLock lock(desk_->mutex);
    SALLYPORT_TRY(Link* const link, this->link());
    SALLYPORT_CHECK_OK(link->ask(
        "INSERT INTO beats (log, instance, host, beat) VALUES ($1::int8, $2::uuid, $3::text, 0)",
        {number(log_), bytes(bytes_of(instance_id)), bytes(host_name())}));
  }
  {
    const MutexLock lock(mutex_);
    instance_ = instance_id;
    unfit_.reset();
    beaten_.reset();
  }
  return beat();
}

Result<void> Leases::may_act() const {
  const MutexLock lock(mutex_);
  if (unfit_) return std::unexpected(*unfit_);
  if (beaten_ && Steady::now() < *beaten_ + lease_ - interval_) return {};
  return ledger_unavailable("busy",
                            "the database has not heard of this gateway for so long that "
                            "others may take it for dead");
}

std::vector<ledger::Membership::Silent> Leases::silent() {
  const MutexLock lock(mutex_);
  std::vector<Silent> out = seen_.silent(Steady::now());
  std::erase_if(out, [own = instance_](const Silent& each) { return each.instance == own; });
  return out;
}

Result<bool> Leases::is_still_silent(const Silent& silent) {
  std::optional<std::int64_t> seen;
  {
    const MutexLock lock(mutex_);
    seen = seen_.count_of(silent.instance);
  }
  const MutexLock lock(desk_->mutex);
  SALLYPORT_TRY(Link* const link, this->link());
  SALLYPORT_TRY(const Rows rows,
                link->ask("SELECT beat FROM beats WHERE log = $1::int8 AND instance = $2::uuid",
                          {number(log_), bytes(bytes_of(silent.instance))}));
  return rows.size() == 0 || (seen && rows.number(0, 0) == *seen);
}

void Leases::forget(const Silent& silent) {
  const MutexLock lock(desk_->mutex);
  const Result<Link*> link = this->link();
  // A row that stays is found silent again, without calls.
  if (!link) return;
  (void)(*link)->ask("DELETE FROM beats WHERE log = $1::int8 AND instance = $2::uuid",
                     {number(log_), bytes(bytes_of(silent.instance))});
}

}  // namespace sallyport::store::postgresql
