#include "ledger/proof/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <set>

#include "base/try.h"
#include "ledger/entry/trust_link.h"
#include "ledger/proof/merkle.h"
#include "ledger/proof/verify_entries.h"
#include "ledger/write/seals.h"

namespace sallyport::ledger {

namespace {

constexpr std::uint64_t kStretch = kBlock;

using Found = std::optional<Fault>;

Fault storage(std::uint64_t sequence, const Error& error) {
  return {sequence, "storage", error.message, error.cause};
}

// Judges the results of the stretches in order.
class WholeLog {
 public:
  // The first `indexed` blocks have an index.
  WholeLog(ReadView& view, std::uint64_t size, std::uint64_t indexed, CheckPasskeys passkeys,
           std::string origin)
      : view_(view),
        size_(size),
        indexed_(indexed),
        passkeys_(std::move(passkeys)),
        origin_(std::move(origin)) {}

  Found take(const Examined& part) {
    // There may be an earlier fault before the part's own fault.
    const std::uint64_t stop = part.fault ? part.fault->sequence : UINT64_MAX;
    if (Found found = append_leaves(part, stop)) return found;
    for (const auto& id : part.ids) ids_.push_back(id);
    if (part.last_pruned) last_pruned_ = part.last_pruned;
    for (const Examined::TopicEvent& event : part.topics) {
      if (event.sequence >= stop) break;
      // After pruning, the first remaining number shows how many events were before it.
      const auto [last, unknown] = topics_.try_emplace(event.topic, 0);
      if (unknown && last_pruned_) last->second = event.id - 1;
      if (event.id != ++last->second) {
        return Fault{event.sequence, "topic_order",
                     fmt::format("topic `{}` has id {} where {} comes next", event.topic, event.id,
                                 last->second)};
      }
    }
    for (const Examined::TrustLink& link : part.trust) {
      if (link.sequence >= stop) break;
      if (trust_index_ == 0 && last_pruned_) {
        trust_index_ = link.index - 1;
        trust_hash_ = link.previous_hash;
      }
      if (link.index != ++trust_index_ || link.previous_hash != trust_hash_) {
        return Fault{link.sequence, "trust_chain",
                     link.index != trust_index_ ? "chain_index" : "previous_hash mismatch"};
      }
      trust_hash_ = link.entry_hash;
      if (!link.control_id.empty() && !control_ids_.insert(link.control_id).second) {
        return Fault{link.sequence, "trust_chain",
                     "unauthorized control: its control_id was used before"};
      }
    }
    if (Found found = judge_passkeys(part)) return found;
    for (const Examined::HoldChange& change : part.holds) holds_[change.id] = change.fact;
    pruned_below_ = std::max(pruned_below_, part.pruned_below);
    toggle(altered_, part.altered);
    return part.fault;
  }

  Found finish() {
    if (size_ > 0 && !covered_) {
      return Fault{size_ - 1, "root", "no checkpoint covers the newest entries"};
    }
    if (last_pruned_ && *last_pruned_ >= pruned_below_) return unexplained();
    const Result<ReadView::Rows> rows = view_.rows();
    if (!rows) return storage(size_, rows.error());
    if (rows->strays != 0) return Fault{0, "missing_sequence", "rows lie before the first entry"};
    std::uint64_t nodes = 0;
    for (std::uint64_t left = size_ / kTile; left > 0; left /= kTile) nodes += left;
    if (rows->nodes != nodes) {
      return Fault{size_, "node_hash", "tree nodes are stored for entries that do not exist"};
    }
    if (rows->blocks != indexed_ || (all_blocks_indexed_ && rows->counts != counts_)) {
      return Fault{size_, "storage", "the index has values that no entry has"};
    }
    return std::nullopt;
  }

  // Checks that the data beside the entries is as the newest commit left it (LE-46).
  Found check_seals(const KeyedDigest& secret) {
    const Result<std::optional<SealedState>> state = newest_state(view_, secret);
    if (!state) return storage(size_, state.error());
    if (!*state) return check_nothing_is_there();
    if (altered_ != (*state)->sums.rows) return put_back();
    const Result<std::optional<std::uint64_t>> block = bad_block(view_, secret, indexed_);
    if (!block) return storage(size_, block.error());
    if (*block) {
      return Fault{std::min(size_, **block * kBlock), "storage",
                   fmt::format("the index of block {} is not as it was sealed", **block)};
    }
    const Result<void> facts = check_facts(view_, secret, (*state)->sums);
    if (facts) return std::nullopt;
    const Result<std::vector<std::string>> names = changed_facts(view_, secret, 1);
    Fault fault = storage(size_, facts.error());
    if (names && !names->empty()) fault.detail = names->front() + "; " + fault.detail;
    return fault;
  }

  // Checks the facts that can be derived from the log again.
  Found check_derived_facts(const std::vector<KeyPeriod>& keys) {
    const auto wrong = [&](std::string_view space, std::string_view key) {
      return Fault{size_, "storage",
                   fmt::format("the fact `{}` of `{}` differs from the entries", key, space)};
    };
    const Result<std::optional<std::string>> key = view_.fact("ledger", "key");
    if (!key) return storage(size_, key.error());
    if (*key != (keys.empty() ? std::nullopt : std::optional(keys.back().key.text()))) {
      return wrong("ledger", "key");
    }
    const Result<std::optional<std::string>> head = view_.fact("trust", "head");
    if (!head) return storage(size_, head.error());
    const std::optional<std::string> last =
        trust_index_ == 0 ? std::nullopt : TrustHead{trust_index_, trust_hash_}.fact().value;
    // Only a pruned record can explain the fact.
    if (*head != last && !(last_pruned_ && !last)) return wrong("trust", "head");
    std::map<std::string, std::optional<std::string>> topics;
    for (const auto& [topic, last] : topics_) topics[topic] = std::to_string(last);
    for (const auto& [space, expected] : {std::pair("topic", topics), std::pair("hold", holds_)}) {
      const Result<std::vector<core::Fact>> facts = view_.facts(space);
      if (!facts) return storage(size_, facts.error());
      std::map<std::string, std::optional<std::string>> stored;
      for (const core::Fact& fact : *facts) stored[fact.key] = fact.value;
      for (const auto& [name, value] : expected) {
        if (stored[name] != value) return wrong(space, name);
      }
      for (const auto& [name, value] : stored) {
        // Only a pruned entry can explain the fact.
        if (!expected.contains(name) && !last_pruned_) return wrong(space, name);
      }
    }
    return std::nullopt;
  }

  // Finds the second entry with an id that an earlier entry has.
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
  Found judge_passkeys(const Examined& part) {
    if (!passkeys_) return std::nullopt;
    for (const Examined::PasskeyRecord& record : part.passkeys) {
      const Result<void> good = passkeys_(record.body, origin_);
      if (good) continue;
      const bool pruned = last_pruned_ || part.last_pruned;
      if (Found found = passkey_fault(record.sequence, good.error(), pruned)) return found;
    }
    return std::nullopt;
  }

  // For a ledger without entries.
  Found check_nothing_is_there() {
    const Result<bool> facts = view_.has_more_facts_than(0);
    if (!facts) return storage(0, facts.error());
    if (!*facts) return std::nullopt;
    return Fault{0, "storage", "there are facts, and no entry that could have written them"};
  }

  // Erased or pruned content is back in some entry. A pruned entry can be found: below the index
  // only entries that name keys have bytes.
  Fault put_back() {
    Fault fault{size_, "opening", "erased or pruned content is stored with entries again"};
    const Result<void> read =
        view_.scan(0, pruned_below_, [&](const StoredEntry& entry) -> Result<bool> {
          const bool back = entry.bytes && !entry.bytes->contains(R"("control":"key_)");
          if (back) fault.sequence = entry.sequence;
          return !back;
        });
    return read ? fault : storage(fault.sequence, read.error());
  }

  // The first entry without bytes that no `pruned` entry covers.
  Fault unexplained() {
    Fault fault{pruned_below_, "entry_bytes", "bytes are missing without a `pruned` entry"};
    const Result<void> read =
        view_.scan(pruned_below_, size_, [&](const StoredEntry& entry) -> Result<bool> {
          fault.sequence = entry.sequence;
          return entry.bytes.has_value();
        });
    return read ? fault : storage(fault.sequence, read.error());
  }

  Found append_leaves(const Examined& part, std::uint64_t stop) {
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

  // Every level has its own edge, which is full at 256. The root of a full edge goes one level up.
  Found check_nodes(std::uint64_t sequence, Hash hash) {
    std::uint64_t position = sequence;
    for (int level = 1;; ++level) {
      Edge& tile = tiles_[level];
      tile.append(hash);
      if (tile.size() < kTile) return std::nullopt;
      hash = std::exchange(tile, {}).root();
      position /= kTile;
      const Result<std::vector<Hash>> stored = view_.nodes(level, position, position + 1);
      if (!stored) return storage(sequence, stored.error());
      if (stored->size() != 1 || stored->front() != hash) {
        return Fault{
            sequence, "node_hash",
            fmt::format("node {} of level {} is not that of its entries", position, level)};
      }
    }
  }

  Found check_index(std::uint64_t sequence, const BlockIndex* index) {
    if (sequence / kBlock >= indexed_) return std::nullopt;  // it has none yet (SC-23)
    if (index == nullptr) {
      all_blocks_indexed_ = false;
      return std::nullopt;
    }
    counts_ += index->counts.size();
    const Result<bool> same = view_.has_block_index(*index);
    if (!same) return storage(sequence, same.error());
    if (!*same) return Fault{sequence, "storage", "the index differs from the entries"};
    return std::nullopt;
  }

  ReadView& view_;
  std::uint64_t size_;
  std::uint64_t indexed_;
  CheckPasskeys passkeys_;
  std::string origin_;
  Edge edge_;
  std::map<int, Edge> tiles_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ids_;
  std::map<std::string, std::uint64_t> topics_;
  std::map<std::string, std::optional<std::string>> holds_;  // nothing: lifted
  std::uint64_t trust_index_ = 0;
  std::string trust_hash_;
  std::set<std::string> control_ids_;
  std::optional<std::uint64_t> last_pruned_;
  std::uint64_t pruned_below_ = 0;
  std::uint64_t counts_ = 0;
  Tag altered_{};
  bool covered_ = false;
  bool all_blocks_indexed_ = true;
};

// Reads stretches in order and examines `threads` of them at a time.
Found check_entries(ReadView& view, std::uint64_t size, const LogHistory& history, unsigned threads,
                    WholeLog& whole) {
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
    const Result<void> read = view.scan(next, std::min(size, next + kStretch),
                                        [&](const StoredEntry& entry) -> Result<bool> {
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
    running.push_back(
        std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                   [stretch = std::move(stretch), &history] { return examine(stretch, history); }));
    // One more than there are threads, so that no thread idles while the oldest is judged.
    if (running.size() > threads) take_oldest();
  }
  while (!running.empty()) take_oldest();
  if (!found) found = missing;
  if (!found) found = whole.finish();
  Found duplicate = whole.duplicate();
  if (duplicate && (!found || duplicate->sequence < found->sequence)) return duplicate;
  return found;
}

Found check_keys(const std::vector<KeyPeriod>& keys, const std::optional<VerifierKey>& pinned) {
  if (keys.empty()) return Fault{0, "checkpoint_signature", "no `key_created` entry names the key"};
  if (!pinned) return std::nullopt;
  const auto first = std::ranges::find(keys, *pinned, &KeyPeriod::key);
  if (first == keys.end()) {
    return Fault{0, "checkpoint_signature",
                 fmt::format("this ledger was never signed with `{}`", pinned->text())};
  }
  // A compromised key passes its trust to no later one (LE-27).
  const auto last = std::find_if(first, keys.end(), std::mem_fn(&KeyPeriod::compromised));
  if (last == keys.end()) return std::nullopt;
  return Fault{
      last->last_size.value_or(1) - 1, "checkpoint_signature",
      fmt::format("`{}` was compromised when it was rotated: pin a later key by another way",
                  last->key.text())};
}

// Otherwise a replaced key file would make every entry look bad.
bool is_secret_of(ReadView& view, const KeyedDigest& digest) {
  const Result<std::optional<StoredEntry>> first = view.entry(0);
  return (first && *first && Seals(digest).holds(**first)) || newest_state(view, digest);
}

Found check_all(ReadView& view, const std::optional<VerifierKey>& pinned,
                const std::optional<std::string>& since, unsigned threads,
                const KeyedDigest* digest, CheckControl control, CheckPasskeys passkeys,
                LedgerReport& report) {
  const Result<std::uint64_t> size = view.size();
  if (!size) return storage(0, size.error());
  report.tree_size = *size;
  Result<LogHistory> history = log_history(view);
  if (!history) return storage(0, history.error());
  history->control = std::move(control);
  if (digest != nullptr && is_secret_of(view, *digest)) history->secret = digest;
  if (!history->keys.empty()) report.origin = history->keys.front().key.name;
  const Result<std::uint64_t> indexed = view.indexed_blocks();
  if (!indexed) return storage(0, indexed.error());
  WholeLog whole(view, *size, *indexed, std::move(passkeys), report.origin);
  if (Found found = check_entries(view, *size, *history, threads, whole)) return found;
  if (Found found = *size == 0 ? std::nullopt : check_keys(history->keys, pinned)) return found;
  const Result<void> kept = since ? check_against(view, *since, history->keys) : Result<void>{};
  if (!kept) return Fault{*size, "checkpoint_consistency", kept.error().message};
  // Last: a log that was cut back has facts of later commits, but the cut is the better report.
  if (Found found = whole.check_derived_facts(history->keys)) return found;
  return digest != nullptr ? whole.check_seals(*digest) : std::nullopt;
}

}  // namespace

json::object LedgerReport::to_json() const {
  json::object object{{"ok", ok}, {"tree_size", tree_size}, {"origin", origin}};
  if (openings_missing) object["openings_missing"] = *openings_missing;
  if (first_bad) {
    object["first_bad"] = json::object{{"sequence", first_bad->sequence},
                                       {"check", first_bad->check},
                                       {"detail", first_bad->detail}};
  }
  return object;
}

LedgerReport verify_ledger(LedgerStore& store, const std::optional<VerifierKey>& pinned,
                           const std::optional<std::string>& since, unsigned threads,
                           const KeyedDigest* digest, CheckControl control,
                           CheckPasskeys passkeys) {
  LedgerReport report;
  std::future<Result<void>> files =
      std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                 [&store] { return store.check_files(); });
  const Result<void> read = store.read([&](ReadView& view) -> Result<void> {
    report.first_bad = check_all(view, pinned, since, threads, digest, std::move(control),
                                 std::move(passkeys), report);
    return {};
  });
  if (!read) report.first_bad = storage(0, read.error());
  const Result<void> whole = files.get();
  if (!report.first_bad && !whole) report.first_bad = storage(report.tree_size, whole.error());
  report.ok = !report.first_bad;
  return report;
}

}  // namespace sallyport::ledger
