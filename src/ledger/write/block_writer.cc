#include "ledger/write/block_writer.h"

#include <algorithm>

#include "base/try.h"
#include "ledger/write/block_index.h"
#include "ledger/write/seals.h"

namespace sallyport::ledger {

namespace {

// The pause after a failure, and while another gateway builds.
constexpr auto kTryLater = std::chrono::seconds(1);

}  // namespace

Result<BlockIndex> index_block(ReadView& view, std::uint64_t block) {
  BlockIndexer indexer;
  const auto add = [&](const StoredEntry& entry) -> Result<bool> {
    if (!entry.bytes) return true;  // pruned before its block had an index
    SALLYPORT_TRY(const EntryView seen, view_entry(*entry.bytes));
    SALLYPORT_CHECK_OK(add_entry(indexer, seen));
    return true;
  };
  SALLYPORT_CHECK_OK(view.scan(block * kBlock, (block + 1) * kBlock, add));
  return indexer.finish(block);
}

BlockWriter::BlockWriter(LedgerStore& store, const KeyedDigest& digest, Membership& membership)
    : store_(store), digest_(digest), membership_(membership), thread_([this] { work(); }) {}

BlockWriter::~BlockWriter() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void BlockWriter::note_size(std::uint64_t size) {
  {
    const MutexLock lock(mutex_);
    if (size / kBlock <= full_) return;
    full_ = size / kBlock;
  }
  wake_.notify_all();
}

void BlockWriter::work() {
  std::uint64_t indexed = 0;
  bool failed = false;
  while (true) {
    {
      const auto later = std::chrono::steady_clock::now() + kTryLater;
      const MutexLock lock(mutex_);
      while (!stopping_ && (indexed >= full_ || failed)) {
        if (!failed) {
          wake_.wait(mutex_);
        } else if (!wake_.wait_until(mutex_, later)) {
          failed = false;
        }
      }
      if (stopping_) return;
    }
    const Result<std::uint64_t> next = index_next();
    failed = !next || *next <= indexed;
    if (next) indexed = *next;
  }
}

// One gateway builds at a time. That only saves work: a block that has its index keeps it.
Result<std::uint64_t> BlockWriter::index_next() {
  SALLYPORT_TRY(const std::shared_ptr<void> claim, membership_.claim("block index"));
  std::uint64_t next = 0;
  std::optional<BlockIndex> index;
  SALLYPORT_CHECK_OK(store_.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    SALLYPORT_TRY(next, view.indexed_blocks());
    if (!claim || next >= size / kBlock) return {};
    SALLYPORT_TRY(index, index_block(view, next));
    return {};
  }));
  if (!index) return next;
  SALLYPORT_CHECK_OK(store_.add_block_index(*index, Seals(digest_).block_seal(*index)));
  return next + 1;
}

}  // namespace sallyport::ledger
