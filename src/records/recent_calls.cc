#include "records/recent_calls.h"

#include <algorithm>

#include "base/try.h"
#include "ledger/read/stored_entry.h"
#include "records/record_rows.h"

namespace sallyport::app {

namespace {

constexpr std::uint64_t kFirstEntries = 4 * ledger::kTile;  // that are read for the first list
constexpr std::size_t kMostCalls = 1024;

// True if content of earlier entries was removed, so their rows have changed.
bool removes(const ledger::StoredEntry& stored) {
  return stored.bytes->find(R"("control":"erased")") != std::string::npos ||
         stored.bytes->find(R"("control":"pruned")") != std::string::npos;
}

}  // namespace

Result<std::optional<std::vector<CallRow>>> RecentCalls::newest(
    ledger::ReadView& view, std::size_t count, const std::function<bool()>& wanted) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  return kept_.with([&](Kept& kept) -> Result<std::optional<std::vector<CallRow>>> {
    if (size < kept.end) return std::nullopt;
    if (const Result<void> read = read_on(view, size, kept, wanted); !read) {
      kept = {};
      if (read.error().code == ErrorCode::Cancelled) return std::unexpected(read.error());
      return std::nullopt;
    }
    if (kept.calls.size() < count && kept.begin > 0) return std::nullopt;
    std::vector<CallRow> rows(kept.calls.rbegin(),
                              kept.calls.rbegin() + std::min(count, kept.calls.size()));
    return rows;
  });
}

Result<void> RecentCalls::read_on(ledger::ReadView& view, std::uint64_t size, Kept& kept,
                                  const std::function<bool()>& wanted) {
  const std::uint64_t read = kept.end;  // entries from here on are new
  bool again = read == 0 || size - read > kFirstEntries;
  const auto look = [&](const ledger::StoredEntry& stored) -> Result<bool> {
    if (!wanted()) return fail(ErrorCode::Cancelled, "the caller no longer waits");
    if (!again && stored.sequence + 1 == read) {
      again = stored.leaf != kept.last;
      return !again;
    }
    kept.last = stored.leaf;
    if (!stored.bytes) return true;
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    if (!again && entry.kind == "control" && removes(stored)) {
      again = true;
      return false;
    }
    if (entry.kind != "tool_audit") return true;
    SALLYPORT_CHECK_OK(ledger::check_leaf(stored));
    SALLYPORT_TRY(OpenedRow opened, open_row(stored));
    add(kept, cut_texts(std::move(opened.row)), opened.terminal);
    return true;
  };
  if (!again) SALLYPORT_CHECK_OK(view.scan(read - 1, size, look));
  if (again) {
    kept = {.begin = size - std::min(size, kFirstEntries)};
    SALLYPORT_CHECK_OK(view.scan(kept.begin, size, look));
  }
  kept.end = size;
  return {};
}

// A newer record gives the row of its call, unless an earlier one has ended the call.
void RecentCalls::add(Kept& kept, CallRow row, bool terminal) {
  if (const auto earlier = kept.unfinished.find(row.call_id); earlier != kept.unfinished.end()) {
    kept.calls.erase(std::ranges::lower_bound(kept.calls, earlier->second, {}, &CallRow::sequence));
    kept.unfinished.erase(earlier);
  }
  if (!terminal) kept.unfinished.emplace(row.call_id, row.sequence);
  kept.calls.push_back(std::move(row));
  if (kept.calls.size() <= kMostCalls) return;
  const CallRow& oldest = kept.calls.front();
  kept.begin = oldest.sequence + 1;
  if (const auto open = kept.unfinished.find(oldest.call_id);
      open != kept.unfinished.end() && open->second == oldest.sequence) {
    kept.unfinished.erase(open);
  }
  kept.calls.pop_front();
}

}  // namespace sallyport::app
