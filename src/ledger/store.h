// What the ledger needs from whatever keeps its bytes. The store knows transactions and rows; it
// knows nothing of hashes, signatures or what an entry means.
#pragma once

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
#include "core/record/recorder.h"
#include "ledger/membership.h"

namespace sallyport::ledger {

// A tile of the tree: what tlog-tiles calls full.
inline constexpr std::uint64_t kTile = 256;

// The grain of every index. A finer one finds a little faster and writes a page more for every
// value that many entries share, such as a session.
inline constexpr std::uint64_t kBlock = 16 * kTile;

struct StoredEntry {
  std::uint64_t sequence = 0;
  std::optional<std::string> bytes;  // nothing once pruned
  Hash leaf{};
  std::string openings;    // packed
  std::string checkpoint;  // the signed note that ended the commit of this entry, else empty
  std::string seal{};      // of all that stands beside the entry, see seals.h
  bool odd = false;        // a column holds what this program does not write there
  // The secret of the seal. None: it cannot be checked, as in an auditor's copy.
  const KeyedDigest* secret = nullptr;
};

// How entries are found again without reading them all.
enum class Facet { Call, Session, Agent, Server, Tool, Outcome, Kind, Topic, Run };

// What a finished block says about itself. Made from the entries, and checked against them.
struct BlockIndex {
  struct Count {
    Facet facet = Facet::Call;
    std::string value;
    std::uint64_t count = 0;
    auto operator<=>(const Count&) const = default;
  };
  std::uint64_t block = 0;
  WallTime first_time{};  // least and greatest, since a clock may step
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

  // In order, from `begin` up to but not with `end`; `visit` returns false to stop.
  using Visit = std::function<Result<bool>(const StoredEntry&)>;
  virtual Result<void> scan(std::uint64_t begin, std::uint64_t end, const Visit& visit) = 0;

  virtual Result<std::vector<Hash>> leaves(std::uint64_t begin, std::uint64_t end) = 0;

  // Level 1 is over whole tiles of leaves, each further one over 256 of the level below.
  virtual Result<std::vector<Hash>> nodes(int level, std::uint64_t begin, std::uint64_t end) = 0;

  // Blocks from `from` on that hold the value, in order.
  virtual Result<std::vector<std::uint64_t>> blocks_with(Facet facet, std::string_view value,
                                                         std::uint64_t from) = 0;
  virtual Result<std::vector<std::uint64_t>> blocks_between(WallTime since, WallTime until,
                                                            std::uint64_t from) = 0;
  virtual Result<std::vector<std::uint64_t>> blocks_with_id(const Uuid& id) = 0;
  // Is exactly this stored for the block?
  virtual Result<bool> has_block_index(const BlockIndex& index) = 0;
  // Every block without its counts, and its seal, in order.
  using OnBlock = std::function<Result<void>(const BlockIndex&, std::string_view seal)>;
  virtual Result<void> scan_blocks(const OnBlock& on_block) = 0;
  // Every count, sorted as in a block, of all blocks.
  using OnCount = std::function<Result<void>(std::uint64_t block, const BlockIndex::Count&)>;
  virtual Result<void> scan_counts(const OnCount& on_count) = 0;
  // How many rows there are beside the entries, and how many entries no sequence names: rows that
  // nothing asks for are found by counting.
  struct Rows {
    std::uint64_t nodes = 0;
    std::uint64_t blocks = 0;
    std::uint64_t counts = 0;  // of all blocks together
    std::uint64_t strays = 0;
  };
  virtual Result<Rows> rows() = 0;

  // Sums over all finished blocks.
  virtual Result<std::vector<BlockIndex::Count>> totals(Facet facet) = 0;

  virtual Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) = 0;
  virtual Result<std::vector<core::Fact>> facts(std::string_view space) = 0;
  // Costs no more than `count` facts, however many there are.
  virtual Result<bool> has_more_facts_than(std::uint64_t count) = 0;
  // Of every space, one after the other.
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
    std::optional<std::string> before;  // nothing: there was none
    std::optional<std::string> after;   // nothing: it is gone
  };
  // By space and key.
  using ChangedFacts = std::map<std::pair<std::string, std::string>, ChangedFact>;
  const ChangedFacts& changed_facts() const { return changed_facts_; }

  // The two things that may be taken away from a written entry, neither of which is its hash.
  Result<void> replace_openings(std::uint64_t sequence, std::string_view packed);
  Result<void> drop_bytes(std::uint64_t begin, std::uint64_t end);
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  // Rows from which this transaction took something: their seals must follow.
  const std::vector<Range>& altered() const { return altered_; }

  // Another connection has written since a transaction that asked this was committed.
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
    // False: an error, `busy`, where another writer would have to be waited for. Else that is done
    // for as long as the store was opened with.
    bool waits_for_writers = true;
    // False: written when it returns, so that it outlives the process, and on disk soon afterwards.
    // Where that fails, nothing more is written until it is made good.
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

  // One snapshot; blocks no writer. From any thread.
  using Look = std::function<Result<void>(ReadView&)>;
  virtual Result<void> read(const Look& look) = 0;

  // The same between transactions.
  virtual Result<bool> changed_elsewhere() = 0;

  // From now on rows are handed out with the secret of their seals. Before the first read.
  virtual void check_seals_with(std::shared_ptr<const KeyedDigest> secret) = 0;

  // Makes sure that no file of the store still holds what was taken away.
  virtual Result<void> scrub() = 0;

  // The store's own check of its files; the text names the fault.
  virtual Result<void> check_files() = 0;

  // Written by a release with a newer schema than this one knows.
  virtual bool is_newer() const = 0;
  // What stands in messages: a file, or an address without its password.
  virtual std::string name() const = 0;
  // Another machine that was reached without verified TLS, which was allowed; else empty.
  virtual std::string unverified_host() const { return {}; }
  // In words, for `doctor`. An error: what should be otherwise.
  virtual Result<std::string> condition() { return name(); }

  // A store that gateways of several machines share knows who of them is alive. Null: the store is
  // on a disk of this machine, whose kernel knows. Starts a thread that ends with the object.
  virtual Result<std::unique_ptr<Membership>> join(const Joining&) { return nullptr; }
};

// An error of LE-73: `cause` is one of no_space, read_only, busy, io, not_owner, corrupt. A log
// that several machines share adds fenced, in_doubt and clock.
std::unexpected<Error> ledger_unavailable(std::string_view cause, std::string_view detail);

}  // namespace sallyport::ledger
