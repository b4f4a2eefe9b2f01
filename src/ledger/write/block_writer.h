// Builds the indexes of full blocks beside the commits, on a thread of its own: the index of a
// block takes longer than a commit, and a log that several machines share has one lock (SC-23).
// Until a block has its index, queries read its entries.
#pragma once

#include <cstdint>
#include <thread>

#include "base/keyed_digest.h"
#include "base/mutex.h"
#include "ledger/member/membership.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// The index of a block, made from its entries.
Result<BlockIndex> index_block(ReadView& view, std::uint64_t block);

// `store`, `digest` and `membership` must outlive it.
class BlockWriter {
 public:
  BlockWriter(LedgerStore& store, const KeyedDigest& digest, Membership& membership);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // Says that the log has this many entries. May be called from any thread; it does not wait.
  void note_size(std::uint64_t size);

 private:
  void work();
  // Returns how many blocks, from the first on, have an index then.
  Result<std::uint64_t> index_next();

  LedgerStore& store_;
  const KeyedDigest& digest_;
  Membership& membership_;
  Mutex mutex_;
  Condition wake_;
  bool stopping_ SALLYPORT_GUARDED_BY(mutex_) = false;
  std::uint64_t full_ SALLYPORT_GUARDED_BY(mutex_) = 0;  // blocks
  std::thread thread_;
};

}  // namespace sallyport::ledger
