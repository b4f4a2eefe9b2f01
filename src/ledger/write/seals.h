// Seals protect the data that no signature covers: openings, the places of checkpoints, facts, the
// index. They use the secret of the data folder (`keys/digest.key`) and reveal a change by another
// program (LE-46). docs/formats.md has the layout.
//
// Each row of an entry has a seal. The row that ends a commit also seals the state of that commit:
// the sum over all facts, and the sum over all rows that lost content. Both are under the signed
// checkpoint of the row, so a state of an earlier commit does not pass for that of a later one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/keyed_digest.h"
#include "base/running_digest.h"
#include "ledger/store.h"

namespace sallyport::ledger {

using Tag = std::array<std::uint8_t, 16>;

// Sums of keyed digests by exclusive or. The stored value is masked, so a comparison of two commits
// does not reveal the digest of a single fact.
struct SealedSums {
  Tag facts{};
  Tag rows{};  // rows that were erased or pruned after they were written

  bool operator==(const SealedSums&) const = default;
};

// A commit changed the fact of this name to the value of this mark. Four bytes each: they name what
// differs, the sums find that something does.
struct FactMark {
  std::uint32_t name = 0;
  std::uint32_t value = 0;  // zero: removed
};

struct SealedState {
  SealedSums sums{};
  std::uint32_t revision = 0;  // counts later changes of facts that have no entry
  bool anew = false;           // `marks` names every fact there is; earlier ones count no longer
  std::vector<FactMark> marks{};
};

class Seals {
 public:
  explicit Seals(const KeyedDigest& digest) : digest_(&digest) {}

  // Of a row; `state` is empty, or what `state_seal` made for the row that ends a commit.
  std::string row_seal(const StoredEntry& row, std::string_view state) const;
  bool holds(const StoredEntry& row) const;
  // The part of a row in the sum of those that lost content; nothing for others.
  std::optional<Tag> row_part(const StoredEntry& row) const;

  std::string state_seal(std::string_view checkpoint, const SealedState& state) const;
  // No value: there is no state, or it is not of this secret and this checkpoint.
  std::optional<SealedState> state(std::string_view checkpoint, std::string_view row_seal) const;

  Tag fact_part(const core::Fact& fact) const;
  FactMark mark(const core::Fact& fact) const;
  // Takes the changes into `state`: costs what has changed, however many facts there are.
  void take(const WriteView::ChangedFacts& changes, SealedState& state) const;

  // Of one block of the index. `counts` is the digest of what `add_count` was given.
  std::string block_seal(const BlockIndex& block, const Hash& counts) const;
  std::string block_seal(const BlockIndex& block) const;
  static void add_count(RunningDigest& counts, const BlockIndex::Count& count);

 private:
  const KeyedDigest* digest_;
};

void toggle(Tag& sum, const Tag& part);

// Row seal without the state, and the state alone.
bool lost_content(const StoredEntry& row);
std::string_view state_part(std::string_view row_seal);

// `corrupt`: the newest state is not sealed by this secret for the newest checkpoint. The text says
// whether the secret was replaced or the seal. Nothing where the ledger is empty.
Result<std::optional<SealedState>> newest_state(ReadView& view, const KeyedDigest& digest);

// The facts are those of `sums`. `corrupt` says what to do; it names no fact, `changed_facts` does.
Result<void> check_facts(ReadView& view, const KeyedDigest& digest, const SealedSums& sums);

// What differs from the newest change that the log has of it, in words, at most `limit`. Reads the
// whole log.
Result<std::vector<std::string>> changed_facts(ReadView& view, const KeyedDigest& digest,
                                               std::size_t limit = 5);

// The seals of the index, of the first `blocks` blocks. Nothing: they hold and there are no others,
// else the number of the first bad block.
Result<std::optional<std::uint64_t>> bad_block(ReadView& view, const KeyedDigest& digest,
                                               std::uint64_t blocks);

// Checks every seal, for callers that do not verify the rest as well.
Result<void> check_seals(ReadView& view, const KeyedDigest& digest);

// Inside a transaction: gives new seals to rows whose openings or bytes it removed.
Result<void> reseal_altered(WriteView& view, const KeyedDigest& digest, SealedState& state);
// A person accepts the present state: rows without a valid seal get one, and sums are recomputed.
Result<SealedState> reseal_all(WriteView& view, const KeyedDigest& digest);

}  // namespace sallyport::ledger
