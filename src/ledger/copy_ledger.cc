#include "ledger/copy_ledger.h"

#include <fmt/format.h>

#include <map>

#include "base/try.h"
#include "ledger/write/committer.h"

namespace sallyport::ledger {

namespace {

using Counts = std::map<std::uint64_t, std::vector<BlockIndex::Count>>;

// Copies the commits of `from` that `to` lacks, each as one commit.
class Copying {
 public:
  Copying(ReadView& from, LedgerStore& to) : from_(from), to_(to) {}

  Result<std::uint64_t> run() {
    SALLYPORT_TRY(const std::uint64_t size, from_.size());
    SALLYPORT_TRY(const std::uint64_t there, common_size(size));
    SALLYPORT_CHECK_OK(read_index());
    std::vector<StoredEntry> commit;
    SALLYPORT_CHECK_OK(from_.scan(there, size, [&](const StoredEntry& entry) -> Result<bool> {
      commit.push_back(entry);
      if (entry.checkpoint.empty()) return true;
      SALLYPORT_CHECK_OK(write(commit, entry.sequence + 1 == size));
      commit.clear();
      return true;
    }));
    if (!commit.empty()) return ledger_unavailable("corrupt", "the last entry has no checkpoint");
    return size;
  }

 private:
  // The number of entries that the copy already has. They must equal those of the original.
  Result<std::uint64_t> common_size(std::uint64_t size) {
    ReadView::Head head;
    SALLYPORT_CHECK_OK(to_.read([&](ReadView& view) -> Result<void> {
      SALLYPORT_TRY(head, view.head());
      return {};
    }));
    if (head.size == 0) return 0;
    std::optional<StoredEntry> last;
    if (head.size <= size) {
      SALLYPORT_TRY(last, from_.entry(head.size - 1));
    }
    if (last && last->checkpoint == head.checkpoint) return head.size;
    return fail(ErrorCode::Conflict, "the log there is another one; name a new one with --log");
  }

  Result<void> read_index() {
    SALLYPORT_CHECK_OK(
        from_.scan_counts([&](std::uint64_t block, const BlockIndex::Count& count) -> Result<void> {
          counts_[block].push_back(count);
          return {};
        }));
    return from_.scan_blocks([&](const BlockIndex& index, std::string_view seal) -> Result<void> {
      blocks_[index.block] = {index, std::string(seal)};
      blocks_[index.block].first.counts = std::move(counts_[index.block]);
      return {};
    });
  }

  Result<void> write(const std::vector<StoredEntry>& commit, bool last) {
    const std::uint64_t begin = commit.front().sequence;
    const std::uint64_t end = commit.back().sequence + 1;
    return to_.write([&](WriteView& view) -> Result<void> {
      for (const StoredEntry& entry : commit) SALLYPORT_CHECK_OK(view.insert(entry));
      SALLYPORT_CHECK_OK(write_nodes(view, begin, end));
      for (std::uint64_t block = begin / kBlock; block < end / kBlock; ++block) {
        const auto found = blocks_.find(block);
        if (found == blocks_.end()) continue;
        const auto& [index, seal] = found->second;
        SALLYPORT_CHECK_OK(view.put_block_index(index, seal));
      }
      if (!last) return {};
      // No seal of an earlier commit is compared with them.
      return from_.scan_facts([&](const core::Fact& fact) { return view.put_fact(fact); });
    });
  }

  // Writes the nodes of each level that this commit completed.
  Result<void> write_nodes(WriteView& view, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t width = kTile;
    for (int level = 1; width <= end; ++level, width *= kTile) {
      SALLYPORT_TRY(const std::vector<Hash> nodes, from_.nodes(level, begin / width, end / width));
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        SALLYPORT_CHECK_OK(view.put_node(level, begin / width + i, nodes[i]));
      }
    }
    return {};
  }

  ReadView& from_;
  LedgerStore& to_;
  Counts counts_;
  std::map<std::uint64_t, std::pair<BlockIndex, std::string>> blocks_;
};

}  // namespace

core::Draft moved(std::string to, std::string actor) {
  core::Draft draft = control("moved", {{"to", to}, {"who", std::move(actor)}});
  draft.facts.push_back({"ledger", "moved", std::move(to)});
  return draft;
}

Result<std::optional<std::string>> moved_to(ReadView& view) {
  return view.fact("ledger", "moved");
}

Result<std::uint64_t> copy_ledger(LedgerStore& from, LedgerStore& to) {
  std::uint64_t size = 0;
  SALLYPORT_CHECK_OK(from.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(size, Copying(view, to).run());
    return {};
  }));
  return size;
}

}  // namespace sallyport::ledger
