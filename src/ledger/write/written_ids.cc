#include "ledger/write/written_ids.h"

#include "base/try.h"
#include "ledger/entry/entry.h"

namespace sallyport::ledger {

void WrittenIds::add(const Uuid& id, std::uint64_t sequence) {
  added_.emplace_back(id, sequence);
  if (recent_) recent_->emplace(id, sequence);
}

Result<std::optional<std::uint64_t>> WrittenIds::find(const Uuid& id) {
  if (!recent_) SALLYPORT_CHECK_OK(read_recent());
  if (const auto same = recent_->find(id); same != recent_->end()) return same->second;
  std::optional<std::uint64_t> found;
  const auto look = [&, text = to_string(id)](const StoredEntry& entry) -> Result<bool> {
    if (!entry.bytes) return true;
    SALLYPORT_TRY(const EntryView seen, view_entry(*entry.bytes));
    if (seen.id == text) found = entry.sequence;
    return !found.has_value();
  };
  SALLYPORT_TRY(const std::vector<std::uint64_t> blocks, view_.blocks_with_id(id));
  for (const std::uint64_t block : blocks) {
    SALLYPORT_CHECK_OK(view_.scan(block * kBlock, (block + 1) * kBlock, look));
    if (found) break;
  }
  return found;
}

Result<void> WrittenIds::read_recent() {
  recent_.emplace();
  const auto note = [&](const StoredEntry& entry) -> Result<bool> {
    if (!entry.bytes) return true;
    SALLYPORT_TRY(const EntryView seen, view_entry(*entry.bytes));
    if (const std::optional<Uuid> id = parse_uuid(seen.id)) {
      recent_->emplace(*id, entry.sequence);
    }
    return true;
  };
  SALLYPORT_TRY(const std::uint64_t size, view_.size());
  SALLYPORT_TRY(const std::uint64_t indexed, view_.indexed_blocks());
  SALLYPORT_CHECK_OK(view_.scan(indexed * kBlock, size, note));
  recent_->insert(added_.begin(), added_.end());
  return {};
}

}  // namespace sallyport::ledger
