#include "records/recent_counts.h"

#include "base/try.h"
#include "ledger/entry/entry.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostBlocks = 4096;  // 16 million entries

void add(RecentCounts::Minutes& all, const RecentCounts::Minutes& more,
         std::chrono::sys_seconds first) {
  for (auto minute = more.lower_bound(first); minute != more.end(); ++minute) {
    for (const auto& [value, count] : minute->second) all[minute->first][value] += count;
  }
}

}  // namespace

Result<RecentCounts::Counted> RecentCounts::count(ledger::ReadView& view, std::uint64_t begin,
                                                  std::uint64_t end) {
  Counted counted;
  SALLYPORT_CHECK_OK(view.scan(begin, end, [&](const ledger::StoredEntry& stored) -> Result<bool> {
    if (!stored.bytes) return true;
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    const auto at = from_rfc3339(entry.recorded_at);
    if (!at) return true;
    const auto minute = std::chrono::floor<std::chrono::minutes>(*at);
    ++counted.kinds[minute][std::string(entry.kind)];
    if (!entry.outcome.empty()) ++counted.outcomes[minute][std::string(entry.outcome)];
    return true;
  }));
  return counted;
}

Result<RecentCounts::Counted> RecentCounts::block(ledger::ReadView& view, std::uint64_t block) {
  auto known = blocks_.with([&](const auto& blocks) -> std::optional<Counted> {
    const auto found = blocks.find(block);
    return found == blocks.end() ? std::nullopt : std::optional(found->second);
  });
  if (known) return std::move(*known);
  SALLYPORT_TRY(Counted counted, count(view, block * ledger::kBlock, (block + 1) * ledger::kBlock));
  blocks_.with([&](auto& blocks) {
    if (blocks.size() >= kMostBlocks) blocks.erase(blocks.begin());  // the oldest
    blocks.insert_or_assign(block, counted);
  });
  return counted;
}

Result<RecentCounts::Minutes> RecentCounts::since(ledger::ReadView& view,
                                                  std::chrono::sys_seconds first,
                                                  ledger::Facet by) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
  SALLYPORT_TRY(const std::vector<std::uint64_t> blocks,
                view.blocks_between(first, WallTime::max(), 0));
  const auto wanted = [&](const Counted& one) -> const Minutes& {
    return by == ledger::Facet::Kind ? one.kinds : one.outcomes;
  };
  Minutes all;
  for (const std::uint64_t number : blocks) {
    if (number >= indexed) continue;  // another process has added its index since
    SALLYPORT_TRY(const Counted counted, block(view, number));
    add(all, wanted(counted), first);
  }
  SALLYPORT_TRY(const Counted tail, count(view, indexed * ledger::kBlock, size));
  add(all, wanted(tail), first);
  return all;
}

}  // namespace sallyport::app
