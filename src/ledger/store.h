// What the ledger needs from a store. A store knows transactions and rows. It knows nothing of
// hashes, signatures or the meaning of an entry.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "base/keyed_digest.h"
#include "base/uuid.h"
#include "core/record/draft.h"
#include "ledger/member/membership.h"

namespace sallyport::ledger {

// A full tile of the tree, as in tlog-tiles.
inline constexpr std::uint64_t kTile = 256;

// The block size of every index. A smaller block finds a little faster, and writes one more page
// for every value that many entries share, such as a session.
inline constexpr std::uint64_t kBlock = 16 * kTile;

struct StoredEntry {
  std::uint64_t sequence = 0;
  std::optional<std::string> bytes;  // no value: pruned
  Hash leaf{};
  std::string openings;    // packed
  std::string checkpoint;  // the signed note, if this entry ended its commit; else empty
  std::string seal{};      // covers everything that is stored with the entry, see seals.h
  bool odd = false;        // a column holds something that this program never writes there
  // The secret of the seal. Null: the seal cannot be checked, as in an auditor's copy.
  const KeyedDigest* secret = nullptr;
};

// The values by which entries are found without reading them all.
enum class Facet { Call, Session, Agent, Server, Tool, Outcome, Kind, Topic, Run };

// The index of a full block. It is made from the entries, and checked against them.
struct BlockIndex {
  struct Count {
    Facet facet = Facet::Call;
    std::string value;
    std::uint64_t count = 0;
    auto operator<=>(const Count&) const = default;
  };
  std::uint64_t block = 0;
  WallTime first_time{};  // the least and the greatest, because a clock may step
  WallTime last_time{};
  Uuid least_id{};
  Uuid greatest_id{};
  std::vector<Count> counts;  // sorted

  bool operator==(const BlockIndex&) const = default;
};

// A consistent view of committed rows. Every failure is `Unavailable` with a cause of LE-73.
class ReadView {
 public:
  virtual ~ReadView() = default;

  virtual Result<std::uint64_t> size() = 0;
  // The end of the log: its size, and the checkpoint of its last entry.
  struct Head {
    std::uint64_t size = 0;
    std::string checkpoint;
    std::string seal;
  };
  virtual Result<Head> head() = 0;
  virtual Result<std::optional<StoredEntry>> entry(std::uint64_t sequence) = 0;

  // Visits entries in order, from `begin` to before `end`; `visit` returns false to stop.
  using Visit = std::function<Result<bool>(const StoredEntry&)>;
  virtual Result<void> scan(std::uint64_t begin, std::uint64_t end, const Visit& visit) = 0;

  virtual Result<std::vector<Hash>> leaves(std::uint64_t begin, std::uint64_t end) = 0;

  // Level 1 covers full tiles of leaves, each further level 256 nodes of the level below.
  virtual Result<std::vector<Hash>> nodes(int level, std::uint64_t begin, std::uint64_t end) = 0;

  // How many blocks, from the first on, have an index. What comes after them is read itself.
  virtual Result<std::uint64_t> indexed_blocks() = 0;
  // Returns the blocks from `from` on that hold the value, in order.
  virtual Result<std::vector<std::uint64_t>> blocks_with(Facet facet, std::string_view value,
                                                         std::uint64_t from) = 0;
  virtual Result<std::vector<std::uint64_t>> blocks_between(WallTime since, WallTime until,
                                                            std::uint64_t from) = 0;
  virtual Result<std::vector<std::uint64_t>> blocks_with_id(const Uuid& id) = 0;
  // True if exactly this is stored for the block.
  virtual Result<bool> has_block_index(const BlockIndex& index) = 0;
  // Visits every block without its counts, with its seal, in order.
  using OnBlock = std::function<Result<void>(const BlockIndex&, std::string_view seal)>;
  virtual Result<void> scan_blocks(const OnBlock& on_block) = 0;
  // Visits every count of all blocks, sorted as in a block.
  using OnCount = std::function<Result<void>(std::uint64_t block, const BlockIndex::Count&)>;
  virtual Result<void> scan_counts(const OnCount& on_count) = 0;
  // The number of rows other than entries, and of entries without a sequence in range. Counting
  // finds rows that no query asks for.
  struct Rows {
    std::uint64_t nodes = 0;
    std::uint64_t blocks = 0;
    std::uint64_t counts = 0;  // of all blocks together
    std::uint64_t strays = 0;
  };
  virtual Result<Rows> rows() = 0;

  // Returns sums over all full blocks.
  virtual Result<std::vector<BlockIndex::Count>> totals(Facet facet) = 0;

  virtual Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) = 0;
  virtual Result<std::vector<core::Fact>> facts(std::string_view space) = 0;
  // Reads at most `count` facts, however many there are.
  virtual Result<bool> has_more_facts_than(std::uint64_t count) = 0;
  // Visits the facts of every space, one after the other.
  using OnFact = std::function<Result<void>(const core::Fact&)>;
  virtual Result<void> scan_facts(const OnFact& on_fact) = 0;
};

class WriteView : public ReadView {
 public:
  virtual Result<void> insert(const StoredEntry& entry) = 0;
  virtual Result<void> put_node(int level, std::uint64_t position, const Hash& hash) = 0;
  virtual Result<void> put_block_index(const BlockIndex& index, std::string_view seal) = 0;
  virtual Result<void> replace_seal(std::uint64_t sequence, std::string_view seal) = 0;
  virtual Result<void> replace_block_seal(std::uint64_t block, std::string_view seal) = 0;
  // A transaction remembers which facts it changed, so that they can be sealed.
  Result<void> put_fact(const core::Fact& fact);
  struct ChangedFact {
    std::optional<std::string> before;  // no value: there was none
    std::optional<std::string> after;   // no value: it was removed
  };
  // The key is space and key of the fact.
  using ChangedFacts = std::map<std::pair<std::string, std::string>, ChangedFact>;
  const ChangedFacts& changed_facts() const { return changed_facts_; }

  // The two things that may be removed from a written entry. Neither is its hash.
  Result<void> replace_openings(std::uint64_t sequence, std::string_view packed);
  Result<void> drop_bytes(std::uint64_t begin, std::uint64_t end);
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  // Rows from which this transaction removed something: they need new seals.
  const std::vector<Range>& altered() const { return altered_; }

  // True if another connection has written since the last committed transaction that asked this.
  virtual bool changed_elsewhere() = 0;

 private:
  virtual Result<void> store_fact(const core::Fact& fact) = 0;
  virtual Result<void> store_openings(std::uint64_t sequence, std::string_view packed) = 0;
  virtual Result<void> clear_bytes(std::uint64_t begin, std::uint64_t end) = 0;

  ChangedFacts changed_facts_;
  std::vector<Range> altered_;
};

class LedgerStore {
 public:
  virtual ~LedgerStore() = default;

  // What a transaction will ask for, so that a store behind a network brings it in one round trip.
  struct Wants {
    std::uint64_t known = 0;  // the size up to which the writer knows the log
    std::vector<core::FactKey> facts{};
  };
  struct Manner {
    // False: return the error `busy` instead of waiting for another writer. True: wait as long as
    // the store was opened with.
    bool waits_for_writers = true;
    // False: the data is written when this returns, so that it survives the process, and is on disk
    // soon after. If that sync fails, nothing more is written until it succeeds.
    bool waits_for_disk = true;
    // Asked by stores that gain from it; none: the store reads what is asked for, one by one.
    std::function<Wants()> wants{};
  };
  // One write transaction. Durable when this returns well; nothing is changed when `work` or the
  // commit fails. The one exception is the cause `in_doubt` of a store behind a network: it is not
  // known whether the commit happened, and nothing is written until that is known.
  using Work = std::function<Result<void>(WriteView&)>;
  virtual Result<void> write(const Work& work, Manner manner) = 0;
  Result<void> write(const Work& work) { return write(work, {}); }

  // Reads one snapshot and blocks no writer. May be called from any thread.
  using Look = std::function<Result<void>(ReadView&)>;
  virtual Result<void> read(const Look& look) = 0;
  // The same for a look that will ask for the size and for these facts: a store behind a network
  // brings them in one round trip.
  virtual Result<void> read(const Look& look, const std::vector<core::FactKey>&) {
    return read(look);
  }

  // Stores the index of a full block in its own transaction. A block keeps the index that it has.
  virtual Result<void> add_block_index(const BlockIndex& index, std::string_view seal);

  // As in `WriteView`, between transactions.
  virtual Result<bool> changed_elsewhere() = 0;

  // From now on rows carry the secret of their seals. Call it before the first read.
  virtual void check_seals_with(std::shared_ptr<const KeyedDigest> secret) = 0;

  // Makes sure that no file of the store still holds what was removed. `busy`: a reader still needs
  // the old log; this waits for it, but not longer than the store waits for locks.
  virtual Result<void> scrub(std::chrono::milliseconds longest_wait) = 0;
  Result<void> scrub() { return scrub(std::chrono::milliseconds::max()); }

  // Runs the store's own check of its files; the error names the fault.
  virtual Result<void> check_files() = 0;

  // Written by a release with a newer schema than this one knows.
  virtual bool is_newer() const = 0;
  // The name for messages: a file, or an address without its password.
  virtual std::string name() const = 0;
  // The host of a database without verified TLS, if that was allowed; else empty.
  virtual std::string unverified_host() const { return {}; }
  // True: a read may wait for a network, so it must not block a loop.
  virtual bool is_remote() const { return false; }
  // Distinguishes this database from a copy of its rows; empty: unknown.
  virtual std::string identity() const { return {}; }
  // A description for `doctor`. An error says what is wrong.
  virtual Result<std::string> condition() { return name(); }

  // A store that gateways of several machines share knows who of them is alive. Null: the store is
  // on a disk of this machine, whose kernel knows. Starts a thread that ends with the object.
  virtual Result<std::unique_ptr<Membership>> join(const Joining&) { return nullptr; }
};

// An error of LE-73: `cause` is one of no_space, read_only, busy, io, not_owner, corrupt. A log
// that several machines share adds fenced, in_doubt and clock.
std::unexpected<Error> ledger_unavailable(std::string_view cause, std::string_view detail);

// The same with the cause `corrupt`, and the advice to run `sallyport ledger verify`.
std::unexpected<Error> ledger_damaged(std::string_view detail);

// The cause that an error of the system (`errno`) is.
std::string_view cause_of(int system_error);

}  // namespace sallyport::ledger
