#include "ledger/write/start_check.h"

#include <fmt/format.h>

#include "base/try.h"
#include "ledger/proof/tree.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

namespace {

Result<Checkpoint> verified(std::string_view bytes, const VerifierKey& key) {
  SALLYPORT_TRY(const Note note, Note::parse(bytes));
  if (verify_note(note, key) != NoteTrust::Signed) {
    return fail(ErrorCode::Corrupt, "it is not signed by the ledger's key");
  }
  return Checkpoint::parse(note.text);
}

Result<void> check_tail(ReadView& view, std::uint64_t size, std::uint64_t looks_back) {
  std::uint64_t next = size > looks_back ? size - looks_back : 0;
  SALLYPORT_CHECK_OK(view.scan(next, size, [&](const StoredEntry& entry) -> Result<bool> {
    if (entry.sequence != next) return ledger_damaged(fmt::format("entry {} is missing", next));
    SALLYPORT_CHECK_OK(check_leaf(entry));
    ++next;
    return true;
  }));
  if (next != size) return ledger_damaged(fmt::format("entry {} is missing", next));
  return {};
}

}  // namespace

Result<void> check_seals_of(LedgerStore& store, std::shared_ptr<const KeyedDigest> secret) {
  return store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const ReadView::Head head, view.head());
    if (head.size == 0 || !head.seal.empty()) store.check_seals_with(std::move(secret));
    return {};
  });
}

Result<void> check_before_writing(ReadView& view, const VerifierKey& key,
                                  std::uint64_t looks_back) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return {};
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  const Result<Checkpoint> newest = verified(last->checkpoint, key);
  if (!newest) {
    return ledger_damaged(fmt::format("the checkpoint of entry {} does not hold: {}", size - 1,
                                      newest.error().message));
  }
  SALLYPORT_TRY(const Edge edge, edge_at(view, size));
  if (newest->size != size || newest->root != edge.root()) {
    return ledger_damaged(
        fmt::format("the newest checkpoint does not fit the tree of {} entries", size));
  }
  return check_tail(view, size, looks_back);
}

}  // namespace sallyport::ledger
