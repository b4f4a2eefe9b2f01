#include "ledger/write/seals.h"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/entry/opening.h"

namespace sallyport::ledger {

namespace {

constexpr char kWhole = 'w';
constexpr char kAltered = 'a';
constexpr std::size_t kRowSeal = 1 + std::tuple_size_v<Tag>;
constexpr std::size_t kStateHead = std::tuple_size_v<Tag> + 5 + 2 * std::tuple_size_v<Tag>;
constexpr std::size_t kMark = 8;

void put(std::string& out, std::uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>(number >> shift);
  }
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (const char c : bytes.substr(at, 4)) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

Tag tag_of(const Hash& hash) {
  Tag tag;
  std::copy_n(hash.begin(), tag.size(), tag.begin());
  return tag;
}

Tag tag_at(std::string_view bytes, std::size_t at) {
  Tag tag{};
  std::memcpy(tag.data(), bytes.data() + at, tag.size());
  return tag;
}

// Lengths come first, so that no two facts have the same text.
std::string fact_text(const core::Fact& fact) {
  return fmt::format("sallyport/fact/v1\n{} {}\n{}{}{}", fact.space.size(), fact.key.size(),
                     fact.space, fact.key, *fact.value);
}

std::uint32_t last_four(const Hash& hash) {
  return number_at(text_of(hash), hash.size() - 4);
}

// The keyed sums are over one half of a digest, marks are taken from the other.
struct FactDigest {
  explicit FactDigest(const Hash& hash) : part(tag_of(hash)), mark(last_four(hash)) {}
  Tag part;
  std::uint32_t mark;
};

std::string mask_text(std::string_view checkpoint, std::uint32_t revision) {
  return fmt::format("sallyport/mask/v1\n{}\n{}", revision, checkpoint);
}

// Hides both sums, and shows them again.
SealedSums masked(const SealedSums& sums, const Hash& mask) {
  SealedSums out = sums;
  toggle(out.facts, tag_of(mask));
  Tag rest;
  std::copy_n(mask.begin() + rest.size(), rest.size(), rest.begin());
  toggle(out.rows, rest);
  return out;
}

constexpr std::string_view kAdvice =
    "find out why, then run `sallyport ledger acknowledge --reason TEXT`";

}  // namespace

void toggle(Tag& sum, const Tag& part) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= part[i];
}

bool lost_content(const StoredEntry& row) {
  return !row.bytes || has_erased(row.openings);
}

std::string_view state_part(std::string_view row_seal) {
  return row_seal.size() < kRowSeal ? std::string_view{} : row_seal.substr(kRowSeal);
}

// The commitments in the signed entry bind salts and values of open openings.
std::string Seals::row_seal(const StoredEntry& row, std::string_view state) const {
  constexpr std::size_t kCommonText = 512;  // growing to it costs as much as writing it
  std::string text;
  text.reserve(kCommonText + state.size());
  text = "sallyport/row/v1\n";
  const char kind = lost_content(row) ? kAltered : kWhole;
  text += kind;
  text += row.bytes ? 'b' : '-';
  put(text, row.sequence, 8);
  text += text_of(row.leaf);
  put(text, state.size(), 4);
  text += state;
  append_manifest(text, row.openings);
  std::string seal;
  seal.reserve(kRowSeal + state.size());
  seal += kind;
  seal += as_text(tag_of(digest_->bytes(text)));
  seal += state;
  return seal;
}

bool Seals::holds(const StoredEntry& row) const {
  if (row.odd || row.checkpoint.empty() != state_part(row.seal).empty()) return false;
  return row_seal(row, state_part(row.seal)) == row.seal;
}

std::optional<Tag> Seals::row_part(const StoredEntry& row) const {
  if (row.seal.size() < kRowSeal || row.seal[0] != kAltered) return std::nullopt;
  return tag_of(digest_->bytes(fmt::format("sallyport/altered/v1\n{}\n{}", row.sequence,
                                           std::string_view(row.seal).substr(0, kRowSeal))));
}

std::string Seals::state_seal(std::string_view checkpoint, const SealedState& state) const {
  const SealedSums hidden =
      masked(state.sums, digest_->bytes(mask_text(checkpoint, state.revision)));
  std::string rest;
  put(rest, state.revision, 4);
  rest += state.anew ? 'n' : '-';
  rest += as_text(hidden.facts);
  rest += as_text(hidden.rows);
  for (const FactMark& mark : state.marks) {
    put(rest, mark.name, 4);
    put(rest, mark.value, 4);
  }
  std::string seal(as_text(tag_of(digest_->bytes(
      fmt::format("sallyport/state/v1\n{}\n{}{}", checkpoint.size(), checkpoint, rest)))));
  return seal + rest;
}

std::optional<SealedState> Seals::state(std::string_view checkpoint,
                                        std::string_view row_seal) const {
  const std::string_view stored = state_part(row_seal);
  if (stored.size() < kStateHead || (stored.size() - kStateHead) % kMark != 0) return std::nullopt;
  constexpr std::size_t kTag = std::tuple_size_v<Tag>;
  SealedState state;
  state.revision = number_at(stored, kTag);
  state.anew = stored[kTag + 4] == 'n';
  state.sums = masked({tag_at(stored, kTag + 5), tag_at(stored, 2 * kTag + 5)},
                      digest_->bytes(mask_text(checkpoint, state.revision)));
  for (std::size_t at = kStateHead; at < stored.size(); at += kMark) {
    state.marks.push_back({number_at(stored, at), number_at(stored, at + 4)});
  }
  if (state_seal(checkpoint, state) != stored) return std::nullopt;
  return state;
}

Tag Seals::fact_part(const core::Fact& fact) const {
  return tag_of(digest_->bytes(fact_text(fact)));
}

FactMark Seals::mark(const core::Fact& fact) const {
  const Hash name = digest_->bytes(
      fmt::format("sallyport/fact-name/v1\n{}\n{}{}", fact.space.size(), fact.space, fact.key));
  FactMark mark{.name = last_four(name)};
  if (fact.value) mark.value = last_four(digest_->bytes(fact_text(fact)));
  return mark;
}

void Seals::take(const WriteView::ChangedFacts& changes, SealedState& state) const {
  for (const auto& [name, change] : changes) {
    if (change.before == change.after) continue;
    const auto digest_of = [&](const std::optional<std::string>& value) {
      return FactDigest(digest_->bytes(fact_text({name.first, name.second, value})));
    };
    if (change.before) toggle(state.sums.facts, digest_of(change.before).part);
    FactMark mark = this->mark({name.first, name.second, std::nullopt});
    if (change.after) {
      const FactDigest after = digest_of(change.after);
      toggle(state.sums.facts, after.part);
      mark.value = after.mark;
    }
    state.marks.push_back(mark);
  }
}

std::string Seals::block_seal(const BlockIndex& block, const Hash& counts) const {
  std::string text = "sallyport/block/v1\n";
  put(text, block.block, 8);
  put(text, static_cast<std::uint64_t>(block.first_time.time_since_epoch().count()), 8);
  put(text, static_cast<std::uint64_t>(block.last_time.time_since_epoch().count()), 8);
  text += as_text(block.least_id);
  text += as_text(block.greatest_id);
  text += text_of(counts);
  return std::string(as_text(tag_of(digest_->bytes(text))));
}

std::string Seals::block_seal(const BlockIndex& block) const {
  RunningDigest counts;
  for (const BlockIndex::Count& count : block.counts) add_count(counts, count);
  return block_seal(block, counts.finish());
}

void Seals::add_count(RunningDigest& counts, const BlockIndex::Count& count) {
  std::string text;
  put(text, static_cast<std::uint64_t>(count.facet), 1);
  put(text, count.value.size(), 4);
  text += count.value;
  put(text, count.count, 8);
  counts.add(text);
}

Result<std::optional<SealedState>> newest_state(ReadView& view, const KeyedDigest& digest) {
  SALLYPORT_TRY(const ReadView::Head head, view.head());
  if (head.size == 0) return std::nullopt;
  const Seals seals(digest);
  std::optional<SealedState> state = seals.state(head.checkpoint, head.seal);
  if (state) return state;
  SALLYPORT_TRY(const std::optional<StoredEntry> first, view.entry(0));
  if (head.seal.empty() && (!first || first->seal.empty())) {
    return ledger_unavailable(
        "corrupt",
        fmt::format("this ledger has no seals: an earlier release wrote it, or another program "
                    "removed them; {}",
                    kAdvice));
  }
  if (first && !seals.holds(*first)) {
    return ledger_unavailable(
        "corrupt", fmt::format("keys/digest.key is not the key that sealed this ledger; restore it "
                               "from a copy. If it is lost, {}",
                               kAdvice));
  }
  return ledger_unavailable(
      "corrupt",
      fmt::format("the seal of entry {}, the newest, is not the one that was written; {}",
                  head.size - 1, kAdvice));
}

Result<void> check_facts(ReadView& view, const KeyedDigest& digest, const SealedSums& sums) {
  const Seals seals(digest);
  Tag found{};
  SALLYPORT_CHECK_OK(view.scan_facts([&](const core::Fact& fact) -> Result<void> {
    toggle(found, seals.fact_part(fact));
    return {};
  }));
  if (found == sums.facts) return {};
  return ledger_unavailable(
      "corrupt",
      fmt::format("the facts beside the entries are not those that were written; `sallyport "
                  "doctor` names them; {}",
                  kAdvice));
}

namespace {

struct Written {
  std::uint64_t sequence = 0;
  std::uint32_t value = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> before;  // a few earlier values
};

using WrittenFacts = std::unordered_map<std::uint32_t, Written>;

Result<WrittenFacts> written_facts(ReadView& view, const Seals& seals) {
  constexpr std::size_t kEarlier = 8;
  WrittenFacts written;
  SALLYPORT_CHECK_OK(view.scan(0, INT64_MAX, [&](const StoredEntry& row) -> Result<bool> {
    if (row.checkpoint.empty()) return true;
    const std::optional<SealedState> state = seals.state(row.checkpoint, row.seal);
    if (!state) return true;
    if (state->anew) written.clear();
    for (const FactMark& mark : state->marks) {
      Written& fact = written[mark.name];
      if (fact.value != 0) fact.before.emplace_back(fact.sequence, fact.value);
      if (fact.before.size() > kEarlier) fact.before.erase(fact.before.begin());
      fact.sequence = row.sequence;
      fact.value = mark.value;
    }
    return true;
  }));
  return written;
}

// Describes the difference of a stored fact. No value: it is as last written.
std::optional<std::string> difference(const core::Fact& fact, const FactMark& mark,
                                      const WrittenFacts& written) {
  const std::string name = fmt::format("`{:.60}` of `{:.40}`", fact.key, fact.space);
  const auto found = written.find(mark.name);
  if (found == written.end()) return fmt::format("the fact {} was written by no entry", name);
  const Written& last = found->second;
  if (last.value == mark.value) return std::nullopt;
  for (const auto& [sequence, value] : last.before) {
    if (value != mark.value) continue;
    return fmt::format("the fact {} was restored to its state of entry {}; entry {} {} it", name,
                       sequence, last.sequence, last.value == 0 ? "removed" : "changed");
  }
  return fmt::format("the fact {} is not what entry {} wrote", name, last.sequence);
}

}  // namespace

Result<std::vector<std::string>> changed_facts(ReadView& view, const KeyedDigest& digest,
                                               std::size_t limit) {
  const Seals seals(digest);
  SALLYPORT_TRY(WrittenFacts written, written_facts(view, seals));
  std::vector<std::string> found;
  SALLYPORT_CHECK_OK(view.scan_facts([&](const core::Fact& fact) -> Result<void> {
    const FactMark mark = seals.mark(fact);
    const std::optional<std::string> wrong = difference(fact, mark, written);
    if (wrong && found.size() < limit) found.push_back(*wrong);
    written.erase(mark.name);
    return {};
  }));
  for (const auto& [name, fact] : written) {
    if (fact.value == 0 || found.size() >= limit) continue;
    found.push_back(fmt::format("a fact that entry {} wrote was removed", fact.sequence));
  }
  return found;
}

Result<std::optional<std::uint64_t>> bad_block(ReadView& view, const KeyedDigest& digest,
                                               std::uint64_t blocks) {
  std::vector<RunningDigest> counts(blocks);
  std::optional<std::uint64_t> stray;
  SALLYPORT_CHECK_OK(
      view.scan_counts([&](std::uint64_t block, const BlockIndex::Count& count) -> Result<void> {
        if (block < blocks) {
          Seals::add_count(counts[block], count);
        } else {
          stray = block;
        }
        return {};
      }));
  if (stray) return stray;
  const Seals seals(digest);
  std::uint64_t next = 0;
  std::optional<std::uint64_t> bad;
  SALLYPORT_CHECK_OK(
      view.scan_blocks([&](const BlockIndex& block, std::string_view seal) -> Result<void> {
        const bool is_next = block.block == next && next < blocks;
        if (!bad && (!is_next || seals.block_seal(block, counts[next].finish()) != seal)) {
          bad = std::min(block.block, next);
        }
        ++next;
        return {};
      }));
  if (!bad && next < blocks) bad = next;
  return bad;
}

Result<void> check_seals(ReadView& view, const KeyedDigest& digest) {
  SALLYPORT_TRY(const std::optional<SealedState> state, newest_state(view, digest));
  if (!state) return {};
  const Seals seals(digest);
  Tag rows{};
  SALLYPORT_CHECK_OK(view.scan(0, INT64_MAX, [&](const StoredEntry& row) -> Result<bool> {
    const bool ends = !row.checkpoint.empty();
    if (!seals.holds(row) || (ends && !seals.state(row.checkpoint, row.seal))) {
      return ledger_unavailable("corrupt",
                                fmt::format("the seal of entry {} does not hold", row.sequence));
    }
    if (const std::optional<Tag> part = seals.row_part(row)) toggle(rows, *part);
    return true;
  }));
  if (rows != state->sums.rows) {
    return ledger_unavailable("corrupt", "what was erased or pruned was put back");
  }
  SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
  SALLYPORT_TRY(const std::optional<std::uint64_t> block, bad_block(view, digest, indexed));
  if (block) {
    return ledger_unavailable("corrupt",
                              fmt::format("the index of block {} is not sealed", *block));
  }
  return check_facts(view, digest, state->sums);
}

namespace {

// Works in pieces, so that no row changes while it is read.
Result<void> reseal_range(WriteView& view, const Seals& seals, std::uint64_t begin,
                          std::uint64_t end, SealedSums& sums) {
  constexpr std::uint64_t kPiece = 1024;
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  end = std::min(end, size);
  for (std::uint64_t at = begin; at < end; at += kPiece) {
    std::vector<std::pair<std::uint64_t, std::string>> changed;
    const auto look = [&](const StoredEntry& row) -> Result<bool> {
      if (seals.holds(row)) return true;
      if (const std::optional<Tag> part = seals.row_part(row)) toggle(sums.rows, *part);
      StoredEntry next = row;
      next.seal = seals.row_seal(row, state_part(row.seal));
      if (const std::optional<Tag> part = seals.row_part(next)) toggle(sums.rows, *part);
      changed.emplace_back(row.sequence, std::move(next.seal));
      return true;
    };
    SALLYPORT_CHECK_OK(view.scan(at, std::min(end, at + kPiece), look));
    for (const auto& [sequence, seal] : changed) {
      SALLYPORT_CHECK_OK(view.replace_seal(sequence, seal));
    }
  }
  return {};
}

// The seal of a row that a person accepts, with a state if the row ends a commit. Only the newest
// state is ever compared, so the state of an earlier commit may have any content.
std::string accepted_seal(const Seals& seals, const StoredEntry& row) {
  std::string_view state = state_part(row.seal);
  std::string made;
  if (row.checkpoint.empty()) {
    state = {};
  } else if (!seals.state(row.checkpoint, row.seal)) {
    made = seals.state_seal(row.checkpoint, {});
    state = made;
  }
  return seals.row_seal(row, state);
}

Result<void> accept_rows(WriteView& view, const Seals& seals, Tag& sum) {
  constexpr std::uint64_t kPiece = 1024;
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    std::vector<std::pair<std::uint64_t, std::string>> changed;
    const auto look = [&](const StoredEntry& row) -> Result<bool> {
      StoredEntry next = row;
      next.seal = accepted_seal(seals, row);
      if (next.seal != row.seal) changed.emplace_back(row.sequence, next.seal);
      if (const std::optional<Tag> part = seals.row_part(next)) toggle(sum, *part);
      return true;
    };
    SALLYPORT_CHECK_OK(view.scan(at, std::min(size, at + kPiece), look));
    for (const auto& [sequence, seal] : changed) {
      SALLYPORT_CHECK_OK(view.replace_seal(sequence, seal));
    }
  }
  return {};
}

Result<void> accept_blocks(WriteView& view, const Seals& seals, std::uint64_t size) {
  std::vector<RunningDigest> counts(size / kBlock);
  SALLYPORT_CHECK_OK(
      view.scan_counts([&](std::uint64_t block, const BlockIndex::Count& count) -> Result<void> {
        if (block < counts.size()) Seals::add_count(counts[block], count);
        return {};
      }));
  std::vector<std::pair<std::uint64_t, std::string>> changed;
  SALLYPORT_CHECK_OK(
      view.scan_blocks([&](const BlockIndex& block, std::string_view seal) -> Result<void> {
        if (block.block >= counts.size()) return {};
        std::string made = seals.block_seal(block, counts[block.block].finish());
        if (made != seal) changed.emplace_back(block.block, std::move(made));
        return {};
      }));
  for (const auto& [block, seal] : changed) {
    SALLYPORT_CHECK_OK(view.replace_block_seal(block, seal));
  }
  return {};
}

}  // namespace

Result<void> reseal_altered(WriteView& view, const KeyedDigest& digest, SealedState& state) {
  const Seals seals(digest);
  for (const WriteView::Range& range : view.altered()) {
    SALLYPORT_CHECK_OK(reseal_range(view, seals, range.begin, range.end, state.sums));
  }
  return {};
}

Result<SealedState> reseal_all(WriteView& view, const KeyedDigest& digest) {
  const Seals seals(digest);
  SealedState state{.anew = true};
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  SALLYPORT_CHECK_OK(accept_rows(view, seals, state.sums.rows));
  SALLYPORT_CHECK_OK(accept_blocks(view, seals, size));
  SALLYPORT_CHECK_OK(view.scan_facts([&](const core::Fact& fact) -> Result<void> {
    toggle(state.sums.facts, seals.fact_part(fact));
    state.marks.push_back(seals.mark(fact));
    return {};
  }));
  return state;
}

}  // namespace sallyport::ledger
