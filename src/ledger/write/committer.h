// Turns queued drafts into entries, tree and checkpoint, inside one write transaction. The holder
// of the ledger's pen uses it: the writer thread, or a caller that is alone.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/record/record_log.h"
#include "ledger/entry/entry.h"
#include "ledger/member/instance_name.h"
#include "ledger/proof/merkle.h"
#include "ledger/secret/key_folder.h"
#include "ledger/store.h"
#include "ledger/write/block_index.h"
#include "ledger/write/late_outcome.h"
#include "ledger/write/seals.h"

namespace sallyport::ledger {

using Positions = std::vector<core::Position>;

// Drafts that are written together or not at all.
struct Group {
  std::vector<SealedDraft> drafts;
  std::vector<core::Draft> unsealed{};  // until `Committer::seal`
  core::Urgency urgency = core::Urgency::Reports;

  // For a group that depends on stored data: runs inside the transaction, and may change facts and
  // openings there. Its error refuses only this group, so it changes nothing before it can no
  // longer fail.
  using Compose = std::function<Result<std::vector<core::Draft>>(WriteView&)>;
  Compose compose;

  // Facts as they must still be; else this group alone is refused with `Conflict`.
  std::vector<core::Fact> expected;

  // A person accepts the present data beside the entries as it is.
  bool accepts_unsealed = false;

  bool waits_for_disk = true;
  bool owed = false;       // it reports an effect: kept until it is written
  bool known_ids = false;  // ids came from the caller and may have been written before (LE-5)
  // shared: the code that promotes the file also keeps it
  std::shared_ptr<const Signer> rotate_to;

  Result<Positions> result = Positions{};
  std::move_only_function<void(Result<Positions>)> done;
  boost::asio::any_io_executor executor;  // where `done` is called; none: on the writer thread
};

class Committer {
 public:
  struct Parts {
    LedgerStore& store;
    const KeyFolder& keys;
    const core::Redactor& redactor;
    const KeyedDigest& digest;
    const Clock& clock;
    Entropy& entropy;
    const InstanceName& instance;
    // A process that begins to write checks the facts, unless there are more than this.
    std::uint64_t most_facts = UINT64_MAX;
    // Other machines write this log too. Their clocks may differ. Once the log says that this
    // instance is lost, it writes nothing more. Indexes are built elsewhere.
    bool by_lease = false;
  };
  Committer(Parts parts, std::shared_ptr<const Signer> signer);

  // One transaction, one checkpoint, at most one sync. On success every group has its result; on
  // failure nothing was written and the error is for all of them.
  Result<void> commit(const std::vector<Group*>& groups);
  // The same, but returns an error at once if it would have to wait for another writer.
  Result<void> commit_at_once(Group& group);

  Result<SealedDraft> seal(core::Draft draft);
  // Seals what is unsealed. `InvalidInput`: no entry can hold one of the drafts.
  Result<void> seal(Group& group);
  std::uint64_t size() const { return stored_.edge.size(); }
  // The same, for any thread.
  std::uint64_t size_seen() const { return size_seen_.load(std::memory_order_relaxed); }
  const std::string& newest_checkpoint() const { return stored_.checkpoint; }
  bool is_on_disk() const { return is_on_disk_; }  // the last commit
  // Checks the facts against the newest commit. Between commits: others may write them too.
  Result<void> check_facts();
  // True if other processes have written since the last call.
  bool take_followed() { return std::exchange(followed_, false); }
  const VerifierKey& verifier() const { return signer_->verifier(); }
  // The callers of this group get an error, although it was or may have been written. Their next
  // reports then end calls whose intents are in the log.
  void note_doubt(const Group& group) { note_intents(group, doubtful_); }
  // Call it when the log names this instance as a writer.
  void joined() { joined_ = true; }
  // The log no longer names it. The next commit names its new instance.
  void left() { joined_ = false; }

 private:
  struct Batch;
  Result<SealedDraft> seal(core::Draft draft, SealedDraft::LastSubject& last);

  // The stored state, as this process last wrote or read it.
  struct Stored {
    Edge edge{};
    std::string checkpoint{};
    std::string seal{};  // of the row of that checkpoint
    SealedState state{};
    WallTime last_recorded{};  // of the newest entry of any process; by lease, of our newest
    // Both clocks as the last commit began, to notice a step; the next commit notices a step during
    // this one.
    WallTime wall{};
    SteadyTime steady{};
  };

  Result<void> commit(const std::vector<Group*>& groups, LedgerStore::Manner manner);
  LedgerStore::Wants wants(const std::vector<Group*>& groups) const;
  Result<void> check_not_lost(WriteView& view) const;
  Result<void> follow_others(WriteView& view, bool accepts);
  Result<void> follow_tree(WriteView& view, const ReadView::Head& head);
  Result<void> follow_state(WriteView& view, const ReadView::Head& head);
  Result<void> follow_key(WriteView& view);
  Result<void> note_clock_step(Batch& batch);
  Result<void> write_group(Batch& batch, Group& group);
  Result<bool> refuse_group(Batch& batch, Group& group);
  Result<bool> write_late_outcomes(Batch& batch, Group& group);
  Result<void> close_doubtful(Batch& batch, const SealedDraft& draft);
  void forget_doubts(const std::vector<Group*>& groups);
  Result<void> place(Batch& batch, const SealedDraft& draft, Positions& positions);
  void index(Batch& batch, const SealedDraft& draft, WallTime recorded);
  Result<void> sign_checkpoint(Batch& batch, const std::shared_ptr<const Signer>& rotate_to);
  Result<void> seal_state(Batch& batch, bool accepts);
  Result<void> write_rows(Batch& batch);

  Parts parts_;
  std::shared_ptr<const Signer> signer_;
  Stored stored_;
  // The index of the unfinished block, as far as this process filled it. It is read from the store
  // again after other writers or a failed commit.
  BlockIndexer indexer_;
  DoubtfulIntents doubtful_;
  std::atomic<std::uint64_t> size_seen_ = 0;
  bool is_on_disk_ = true;
  bool followed_ = false;
  bool joined_ = false;
};

// The draft of a control entry (LE-68).
core::Draft control(std::string_view name, json::object details = {});

}  // namespace sallyport::ledger
