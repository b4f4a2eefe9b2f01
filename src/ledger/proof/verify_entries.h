// The checks of `ledger verify` that look at one stretch of entries by itself, so that several
// threads can do them for different stretches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/maintenance.h"
#include "ledger/proof/key_history.h"
#include "ledger/proof/verify.h"
#include "ledger/store.h"
#include "ledger/write/seals.h"

namespace sallyport::ledger {

// The contents of one stretch of entries that only the whole log can judge.
struct Examined {
  struct TopicEvent {
    std::uint64_t sequence = 0;
    std::string topic;
    std::uint64_t id = 0;
  };
  struct TrustLink {
    std::uint64_t sequence = 0;
    std::uint64_t index = 0;
    std::string previous_hash;
    std::string entry_hash;
    std::string control_id;  // of a control record
  };
  struct State {
    std::uint64_t sequence = 0;
    std::uint64_t size = 0;
    Hash root{};
  };

  struct PasskeyRecord {
    std::uint64_t sequence = 0;
    json::object body;
  };
  struct HoldChange {
    std::string id;
    std::optional<std::string> fact;  // no value: lifted
  };

  std::uint64_t begin = 0;
  std::vector<Hash> leaves;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ids;  // folded id, sequence
  std::vector<TopicEvent> topics;
  std::vector<TrustLink> trust;
  std::vector<State> checkpoints;
  std::vector<HoldChange> holds;
  std::vector<PasskeyRecord> passkeys;       // added, removed or used for an answer
  std::vector<BlockIndex> blocks;            // of whole blocks that are not pruned
  std::optional<std::uint64_t> last_pruned;  // greatest sequence without bytes
  std::uint64_t pruned_below = 0;            // as `pruned` control entries say
  Tag altered{};                             // sum over rows that lost content, see seals.h
  std::optional<Fault> fault;                // the first
};

// The keys that signed the log and the erasures in it, as its own entries have them.
struct LogHistory {
  struct Erasure {
    std::uint64_t sequence = 0;
    Selection selection;
  };
  std::vector<KeyPeriod> keys;
  std::vector<Erasure> erasures;
  CheckControl control{};
  const KeyedDigest* secret = nullptr;  // none: seals are not checked row by row
};
Result<LogHistory> log_history(ReadView& view);

// `entries` are rows in order, beginning at a block's first entry.
Examined examine(const std::vector<StoredEntry>& entries, const LogHistory& history);

}  // namespace sallyport::ledger
