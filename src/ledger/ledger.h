// Append-only record of everything that happened. One per process, owned by app.
// Every method may be called from any thread.
//
// An append has this life: the caller's thread redacts, seals and renders the entry. The one writer
// thread takes everything that is queued into one transaction, hashes it into the tree, signs one
// checkpoint and commits. Only then the callers get their answers. The writer holds the pen; a
// caller that is alone may take the pen itself.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "core/record/recorder.h"
#include "ledger/member/membership.h"
#include "ledger/secret/secret_box.h"
#include "ledger/store.h"
#include "ledger/write/block_writer.h"
#include "ledger/write/committer.h"
#include "ledger/write/reserve.h"

namespace sallyport::ledger {

struct TurnedAway;

struct Health {
  bool ok = true;
  std::string cause;  // a cause of LE-73
  std::string detail;
};

class Ledger final : public core::Recorder {
 public:
  struct Settings {
    std::filesystem::path data_folder;
    std::string role = "sallyport";         // the role of this process, for `started`
    std::string origin;                     // empty: a random one
    std::filesystem::path checkpoint_copy;  // a copy of the newest checkpoint; empty: none
    std::uint64_t reserve_bytes = 8u << 20;
    // Once owed records have this size, no further call is accepted.
    std::uint64_t owed_bytes = 16u << 20;
    std::map<std::string, std::chrono::seconds> retention;  // by kind: openings older than that go
    std::string network_file_system;                        // named in `started` if it was allowed
    std::string unverified_host{};  // the same for a database without verified TLS
    // Why a person accepted a ledger that its kept checkpoint contradicts (LE-52).
    std::string acknowledged_rollback;
    std::string acknowledged_by;
    // False for maintenance commands, which write their one entry and are not the start of a
    // service.
    bool announced = true;
    // True for a process that writes one call and ends, thousands of times a day. It looks back
    // less far, and copies the checkpoint once a minute.
    bool passing = false;
    // A caller that appends alone writes on its own thread, which saves two wake-ups, as long as
    // the disk is fast. For processes that may stand still for one sync.
    bool in_place = false;
  };

  // Returns the drafts that close a call that a dead process left open. It is given the entry that
  // opened the call, with its body opened (AU-77).
  using Close = std::function<std::vector<core::Draft>(const json::object& entry)>;

  struct Parts {
    LedgerStore& store;
    const core::Redactor& redactor;
    const Clock& clock;
    Entropy& entropy;
    Close close_interrupted{};
  };

  // Checks the newest checkpoint, the tail and the kept copy, closes what dead processes left open,
  // and writes `started`. A ledger that fails a check does not open for writing (LE-45, LE-51).
  static Result<std::unique_ptr<Ledger>> open(Parts parts, Settings settings);

  // Writes everything that is queued, then `stopped`.
  ~Ledger() override;

  Task<std::vector<core::Position>> append(std::vector<core::Draft> drafts, core::Urgency urgency,
                                           std::vector<core::Fact> expected) override;
  using core::Recorder::append;
  void owe(std::vector<core::Draft> drafts) override;
  Result<void> ready() const override;
  Result<void> accept_call() override;

  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override;
  Result<std::vector<core::Fact>> facts(std::string_view space) override;
  Result<Moment> moment(const std::vector<core::FactKey>& keys) override;
  std::uint64_t size_seen() override;
  Result<json::object> entry(std::uint64_t sequence) override;
  bool alive(const std::string& instance_id) const override;
  Result<Claim> claim(std::string_view key) override { return membership_->claim(key); }
  // False: the claim was lost with the connection to the database; another process may have it.
  bool holds(const Claim& claim) const { return membership_->holds(claim); }
  std::vector<std::uint64_t> take_late_records() override;
  // Sets a function that the writer thread calls when there are late records to take. Call it
  // before the first append.
  void on_late_records(std::function<void()> bell) { late_records_bell_ = std::move(bell); }
  std::string encrypt(std::string_view text) override;
  Result<std::string> decrypt(std::string_view sealed) const override;

  // Appends on a thread that may block.
  Result<Positions> append_blocking(std::vector<core::Draft> drafts, core::Urgency urgency);

  // Reads, decides and writes in one transaction (see Group::compose).
  Result<Positions> transact(Group::Compose compose);

  // Signs once with both keys, then with the new one (LE-26).
  Result<VerifierKey> rotate_key(bool compromised, std::string actor = {});

  Health health() const;
  // True: a reader keeps what retention erased in the files. The scrub is tried again until it
  // succeeds (LE-58).
  bool owes_scrub() const { return owes_scrub_; }
  const std::string& instance_id() const override { return instance_.get(); }
  const std::string& origin() const { return origin_; }
  KeyedDigest digest() const { return *digest_; }
  // The key for the marks that replace secrets (PI-57).
  std::string fingerprint_key() const { return (*digest_)("fingerprint"); }
  LedgerStore& store() { return parts_.store; }

 private:
  struct Queue;

  struct Secrets {
    std::shared_ptr<const KeyedDigest> digest;
    SecretBox box;
  };
  Ledger(Parts parts, Settings settings, KeyFolder keys, Secrets secrets,
         std::unique_ptr<Membership> membership, std::shared_ptr<const Signer> signer,
         std::string instance_id);

  Result<void> start();
  Result<std::vector<core::Draft>> opening_drafts(WriteView& view);
  Result<void> finish_rotation(WriteView& view);
  Result<Group> group_of(std::vector<core::Draft> drafts, core::Urgency urgency);
  void seal(std::vector<Group>& groups);
  std::unexpected<Error> refuse_control();
  void submit(Group group);
  void call_for_writing(const boost::asio::any_io_executor& executor, bool alone);
  std::optional<Group> write_in_place(const boost::asio::any_io_executor& executor);
  void note_speed(SteadyTime begin);
  Result<Positions> submit_and_wait(Group group);
  void work();
  void record_stopped() SALLYPORT_REQUIRES(pen_);
  bool settle(std::vector<Group> groups) SALLYPORT_REQUIRES(pen_);
  void refuse_late(std::vector<Group>& groups);
  void note_late_records(const Positions& positions, const std::vector<std::size_t>& records);
  void owe_again(std::vector<Group> groups);
  // Both are called under the queue's mutex.
  void turn_away(std::uint64_t calls, std::uint64_t reports);
  void owe_account();
  void refuse_blocked();
  void restore_reserve() SALLYPORT_REQUIRES(pen_);
  void settle_account(const TurnedAway& reported);
  void probe() SALLYPORT_REQUIRES(pen_);
  void watch_facts() SALLYPORT_REQUIRES(pen_);
  // For a log by lease (write/lost_gateways.cc): closes what lost gateways left, while this process
  // runs; continues under a new name if this one was declared lost.
  void close_lost() SALLYPORT_REQUIRES(pen_);
  enum class Closing { Alive, More, Done };  // it gave a sign; calls are left; all are closed
  Result<Closing> close_calls_of(const Membership::Silent& lost) SALLYPORT_REQUIRES(pen_);
  void record_clock_skew() SALLYPORT_REQUIRES(pen_);
  void rejoin() SALLYPORT_REQUIRES(pen_);
  void announce_next_key() SALLYPORT_REQUIRES(pen_);
  KeyFolder::FoundKey next_key();
  Result<void> check_announced(ReadView& view, const Signer& next) const;
  Result<void> check_identity(WriteView& view) const;
  Result<void> write_nothing(std::string why) SALLYPORT_REQUIRES(pen_);
  Result<void> commit(std::vector<Group>& groups) SALLYPORT_REQUIRES(pen_);
  void commit_reports(std::vector<Group>& groups) SALLYPORT_REQUIRES(pen_);
  void remember(const Result<void>& outcome);
  void keep_checkpoint(bool now) SALLYPORT_REQUIRES(pen_);
  void apply_retention() SALLYPORT_REQUIRES(pen_);
  void scrub_if_owed() SALLYPORT_REQUIRES(pen_);

  Parts parts_;
  Settings settings_;
  KeyFolder keys_;
  std::shared_ptr<const KeyedDigest> digest_;
  SecretBox box_;
  std::unique_ptr<Membership> membership_;
  Reserve reserve_;
  InstanceName instance_;  // the holder of the pen renews it
  Committer::Parts committer_parts_;
  std::string origin_;
  // INVARIANT: only the holder of the pen uses the committer and the reserve. `seal` needs no pen, so
  // the compiler cannot check these two. The pen is taken before the queue's mutex.
  Mutex pen_;
  Committer committer_;
  std::unique_ptr<Queue> queue_;
  struct Door;
  // Shared with work that is posted to executors and may run after the ledger is destroyed.
  std::shared_ptr<Door> door_;
  std::atomic<bool> quick_ = true;  // the last commit was short enough to run on a caller's loop
  std::atomic<bool> owes_scrub_ = false;
  std::optional<SteadyTime> copied_at_ SALLYPORT_GUARDED_BY(pen_);
  std::string copied_checkpoint_ SALLYPORT_GUARDED_BY(pen_);
  std::optional<SteadyTime> retention_applied_ SALLYPORT_GUARDED_BY(pen_);
  std::optional<SteadyTime> scrub_at_
      SALLYPORT_GUARDED_BY(pen_);  // retention erased values, and the files still hold them
  std::optional<SteadyTime> watch_at_ SALLYPORT_GUARDED_BY(pen_);
  std::optional<SteadyTime> lost_at_
      SALLYPORT_GUARDED_BY(pen_);                   // the last search for lost gateways
  bool skewed_ SALLYPORT_GUARDED_BY(pen_) = false;  // the clock is wrong, and an entry says so
  std::string announced_key_
      SALLYPORT_GUARDED_BY(pen_);  // the next key that this gateway announced
  Guarded<std::vector<std::uint64_t>> late_records_;
  std::function<void()> late_records_bell_;    // empty: late records are not wanted
  std::unique_ptr<BlockWriter> block_writer_;  // null: commits write the indexes
  std::thread writer_;
};

}  // namespace sallyport::ledger
