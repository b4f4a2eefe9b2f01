// Finds the position of an entry whose id came from a caller: it may be written already (LE-5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// Of one write transaction.
class WrittenIds {
 public:
  explicit WrittenIds(WriteView& view) : view_(view) {}

  // An entry of this transaction.
  void add(const Uuid& id, std::uint64_t sequence);
  // The sequence of the entry with this id, in this transaction or before it.
  Result<std::optional<std::uint64_t>> find(const Uuid& id);

 private:
  Result<void> read_recent();

  WriteView& view_;
  std::vector<std::pair<Uuid, std::uint64_t>> added_;
  // The ids that no index has yet, including `added_`. Read on first use: records that were owed
  // through a long fault look up thousands.
  std::optional<std::map<Uuid, std::uint64_t>> recent_;
};

}  // namespace sallyport::ledger
