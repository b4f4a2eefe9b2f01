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

// A changed fact, as four bytes of a digest of its name and of its value. The sums detect a
// difference; the marks name it.
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

  // The seal of a row. `state` is empty, or the `state_seal` of the commit that the row ends.
  std::string row_seal(const StoredEntry& row, std::string_view state) const;
  bool holds(const StoredEntry& row) const;
  // The part of a row in the sum of rows that lost content. No value: it lost none.
  std::optional<Tag> row_part(const StoredEntry& row) const;

  std::string state_seal(std::string_view checkpoint, const SealedState& state) const;
  // No value: there is no state, or it is not of this secret and this checkpoint.
  std::optional<SealedState> state(std::string_view checkpoint, std::string_view row_seal) const;

  Tag fact_part(const core::Fact& fact) const;
  FactMark mark(const core::Fact& fact) const;
  // Adds the changes to `state`. The cost does not depend on the number of facts.
  void take(const WriteView::ChangedFacts& changes, SealedState& state) const;

  // The seal of one block of the index. `counts` is the digest of the counts given to `add_count`.
  std::string block_seal(const BlockIndex& block, const Hash& counts) const;
  std::string block_seal(const BlockIndex& block) const;
  static void add_count(RunningDigest& counts, const BlockIndex::Count& count);

 private:
  const KeyedDigest* digest_;
};

void toggle(Tag& sum, const Tag& part);

// True if the row was erased or pruned. The part of a row seal that `state_seal` made.
bool lost_content(const StoredEntry& row);
std::string_view state_part(std::string_view row_seal);

// `corrupt`: the newest state is not sealed by this secret for the newest checkpoint. The text says
// whether the secret was replaced or the seal. No value: the ledger is empty.
Result<std::optional<SealedState>> newest_state(ReadView& view, const KeyedDigest& digest);

// Checks that the facts are those of `sums`. `corrupt` says what to do; `changed_facts` names them.
Result<void> check_facts(ReadView& view, const KeyedDigest& digest, const SealedSums& sums);

// Describes facts that differ from their newest change in the log, at most `limit`. Reads the whole
// log.
Result<std::vector<std::string>> changed_facts(ReadView& view, const KeyedDigest& digest,
                                               std::size_t limit = 5);

// Checks the seals of the first `blocks` blocks of the index. Returns the first bad block. No
// value: all are valid and there are no other blocks.
Result<std::optional<std::uint64_t>> bad_block(ReadView& view, const KeyedDigest& digest,
                                               std::uint64_t blocks);

// Checks every seal, for callers that do not verify the rest as well.
Result<void> check_seals(ReadView& view, const KeyedDigest& digest);

// Inside a transaction: gives new seals to rows whose openings or bytes it removed.
Result<void> reseal_altered(WriteView& view, const KeyedDigest& digest, SealedState& state);
// A person accepts the present state: rows without a valid seal get one, and sums are recomputed.
Result<SealedState> reseal_all(WriteView& view, const KeyedDigest& digest);

}  // namespace sallyport::ledger
