#include "ledger/verify.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <deque>
#include <future>
#include <map>

#include "base/try.h"
#include "ledger/entry_examiner.h"
#include "ledger/merkle.h"

namespace sallyport::ledger {

namespace {

constexpr std::uint64_t kStretch = 16 * kBlock;

using Found = std::optional<Fault>;

Fault storage(std::uint64_t sequence, const Error& error) {
  return {sequence, "storage", error.message};
}

// Judges what the stretches found, in order.
class Whole {
 public:
  Whole(ReadView& view, std::uint64_t size) : view_(view), size_(size) {}

  Found take(const Examined& part) {
    // Everything before the part's own fault may still hold an earlier one.
    const std::uint64_t stop = part.fault ? part.fault->sequence : UINT64_MAX;
    if (Found found = grow(part, stop)) return found;
    for (const auto& id : part.ids) ids_.push_back(id);
    for (const Examined::TopicEvent& event : part.topics) {
      if (event.sequence < stop && event.id != ++topics_[event.topic]) {
        return Fault{event.sequence, "topic_order",
                     fmt::format("topic `{}` has id {} where {} comes next", event.topic, event.id,
                                 topics_[event.topic])};
      }
    }
    for (const Examined::TrustLink& link : part.trust) {
      if (link.sequence >= stop) break;
      if (link.index != ++trust_index_ || link.previous_hash != trust_hash_) {
        return Fault{link.sequence, "trust_chain",
                     link.index != trust_index_ ? "chain_index" : "previous_hash mismatch"};
      }
      trust_hash_ = link.entry_hash;
    }
    if (part.last_pruned) last_pruned_ = part.last_pruned;
    pruned_below_ = std::max(pruned_below_, part.pruned_below);
    return part.fault;
  }

  Found finish() {
    if (size_ > 0 && !covered_) {
      return Fault{size_ - 1, "root", "no checkpoint covers the newest entries"};
    }
    if (last_pruned_ && *last_pruned_ >= pruned_below_) {
      return Fault{pruned_below_, "entry_bytes", "bytes are missing that no `pruned` entry speaks of"};
    }
    const Result<std::vector<Hash>> beyond = view_.nodes(1, size_ / kBlock, INT64_MAX);
    if (!beyond) return storage(size_, beyond.error());
    if (!beyond->empty()) return Fault{size_, "node_hash", "nodes are stored of entries that are gone"};
    const Result<std::uint64_t> counts = view_.stored_counts();
    if (!counts) return storage(size_, counts.error());
    if (all_blocks_indexed_ && *counts != counts_) {
      return Fault{size_, "storage", "the index names what no entry says"};
    }
    return std::nullopt;
  }

  // Sequence of the second entry with an id that was there before.
  Found duplicate() {
    std::sort(ids_.begin(), ids_.end());
    Found first;
    for (std::size_t i = 1; i < ids_.size(); ++i) {
      if (ids_[i].first != ids_[i - 1].first) continue;
      if (!first || ids_[i].second < first->sequence) {
        first = Fault{ids_[i].second, "duplicate_id",
                      fmt::format("entry {} has the same id", ids_[i - 1].second)};
      }
    }
    return first;
  }

 private:
  Found grow(const Examined& part, std::uint64_t stop) {
    auto checkpoint = part.checkpoints.begin();
    auto block = part.blocks.begin();
    for (std::size_t i = 0; i < part.leaves.size(); ++i) {
      const std::uint64_t sequence = part.begin + i;
      if (sequence >= stop) return std::nullopt;
      edge_.append(part.leaves[i]);
      covered_ = false;
      if (Found found = check_nodes(sequence, part.leaves[i])) return found;
      if (edge_.size() % kBlock == 0) {
        const bool indexed = block != part.blocks.end() && block->block == sequence / kBlock;
        if (Found found = check_index(sequence, indexed ? &*block++ : nullptr)) return found;
      }
      if (checkpoint != part.checkpoints.end() && checkpoint->sequence == sequence) {
        if (checkpoint->root != edge_.root()) {
          return Fault{sequence, "root", "the signed root is not that of the entries"};
        }
        covered_ = true;
        ++checkpoint;
      }
    }
    return std::nullopt;
  }

  // Every level has an edge of its own that is full at 256; what it then makes goes one level up.
  Found check_nodes(std::uint64_t sequence, Hash hash) {
    std::uint64_t position = sequence;
    for (int level = 1;; ++level) {
      Edge& tile = tiles_[level];
      tile.append(hash);
      if (tile.size() < kBlock) return std::nullopt;
      hash = std::exchange(tile, {}).root();
      position /= kBlock;
      const Result<std::vector<Hash>> stored = view_.nodes(level, position, position + 1);
      if (!stored) return storage(sequence, stored.error());
      if (stored->size() != 1 || stored->front() != hash) {
        return Fault{sequence, "node_hash",
                     fmt::format("node {} of level {} is not that of its entries", position, level)};
      }
    }
  }

  Found check_index(std::uint64_t sequence, const BlockIndex* index) {
    if (index == nullptr) {
      all_blocks_indexed_ = false;
      return std::nullopt;
    }
    counts_ += index->counts.size();
    const Result<bool> same = view_.has_block_index(*index);
    if (!same) return storage(sequence, same.error());
    if (!*same) return Fault{sequence, "storage", "the index does not say what the entries say"};
    return std::nullopt;
  }

  ReadView& view_;
  std::uint64_t size_;
  Edge edge_;
  std::map<int, Edge> tiles_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ids_;
  std::map<std::string, std::uint64_t> topics_;
  std::uint64_t trust_index_ = 0;
  std::string trust_hash_;
  std::optional<std::uint64_t> last_pruned_;
  std::uint64_t pruned_below_ = 0;
  std::uint64_t counts_ = 0;
  bool covered_ = false;
  bool all_blocks_indexed_ = true;
};

// Reads stretches in order and lets `threads` of them be examined at a time.
Found check_entries(ReadView& view, std::uint64_t size, const std::vector<KeyPeriod>& keys,
                    unsigned threads) {
  Whole whole(view, size);
  std::deque<std::future<Examined>> running;
  std::uint64_t next = 0;
  Found found;
  Found missing;
  const auto take_oldest = [&] {
    const Examined part = running.front().get();
    running.pop_front();
    if (!found) found = whole.take(part);
  };
  while (next < size && !found && !missing) {
    std::vector<StoredEntry> stretch;
    const Result<void> read =
        view.scan(next, std::min(size, next + kStretch), [&](const StoredEntry& entry) -> Result<bool> {
          if (entry.sequence != next) return false;
          stretch.push_back(entry);
          ++next;
          return true;
        });
    if (!read) missing = storage(next, read.error());
    if (stretch.size() < kStretch && next < size && !missing) {
      missing = Fault{next, "missing_sequence", fmt::format("there is no entry {}", next)};
    }
    if (stretch.empty()) break;
    running.push_back(std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                                 [stretch = std::move(stretch), &keys] { return examine(stretch, keys); }));
    if (running.size() >= threads) take_oldest();
  }
  while (!running.empty()) take_oldest();
  if (!found) found = missing;
  if (!found) found = whole.finish();
  const Found duplicate = whole.duplicate();
  if (duplicate && (!found || duplicate->sequence < found->sequence)) return duplicate;
  return found;
}

Found check_keys(const std::vector<KeyPeriod>& keys, const std::optional<VerifierKey>& pinned) {
  if (keys.empty()) return Fault{0, "checkpoint_signature", "no `key_created` entry tells the key"};
  for (const KeyPeriod& period : keys) {
    if (!pinned || period.key == *pinned) return std::nullopt;
  }
  return Fault{0, "checkpoint_signature",
               fmt::format("this ledger was never signed with `{}`", pinned->text())};
}

Found check_all(ReadView& view, const std::optional<VerifierKey>& pinned,
                const std::optional<std::string>& since, unsigned threads, LedgerReport& report) {
  const Result<std::uint64_t> size = view.size();
  if (!size) return storage(0, size.error());
  report.tree_size = *size;
  if (*size == 0) return std::nullopt;
  const Result<std::vector<KeyPeriod>> keys = key_history(view);
  if (!keys) return Fault{0, "entry_bytes", keys.error().message};
  if (!keys->empty()) report.origin = keys->front().key.name;
  if (Found found = check_entries(view, *size, *keys, threads)) return found;
  if (Found found = check_keys(*keys, pinned)) return found;
  if (!since) return std::nullopt;
  const Result<void> kept = check_against(view, *since, *keys);
  if (!kept) return Fault{*size, "checkpoint_consistency", kept.error().message};
  return std::nullopt;
}

}  // namespace

json::object LedgerReport::to_json() const {
  json::object object{{"ok", ok}, {"tree_size", tree_size}, {"origin", origin}};
  if (first_bad) {
    object["first_bad"] = json::object{{"sequence", first_bad->sequence},
                                       {"check", first_bad->check},
                                       {"detail", first_bad->detail}};
  }
  return object;
}

LedgerReport verify_ledger(LedgerStore& store, const std::optional<VerifierKey>& pinned,
                           const std::optional<std::string>& since, unsigned threads) {
  LedgerReport report;
  const Result<void> read = store.read([&](ReadView& view) -> Result<void> {
    report.first_bad = check_all(view, pinned, since, threads, report);
    return {};
  });
  if (!read) report.first_bad = storage(0, read.error());
  if (!report.first_bad) {
    if (const Result<void> files = store.check_files(); !files) {
      report.first_bad = storage(report.tree_size, files.error());
    }
  }
  report.ok = !report.first_bad;
  return report;
}

}  // namespace sallyport::ledger
