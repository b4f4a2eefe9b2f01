#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "cli/command.h"
#include "ledger/read/look_at.h"
#include "records/ledger_counts.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

// `shared`: the name of a log in a database, which has no file; else empty.
void print_text(const LedgerCounts& stats, const Terminal& terminal, const std::string& shared) {
  print_line(fmt::format("entries    {}", stats.size));
  print_line(fmt::format("calls      {} ended", stats.calls));
  print_line(fmt::format("from       {}", stats.first_at));
  print_line(fmt::format("to         {}", stats.last_at));
  print_line(shared.empty() ? fmt::format("file       {} bytes, write-ahead log {} bytes",
                                          stats.ledger_bytes, stats.log_bytes)
                            : fmt::format("kept in    {}", visible(shared)));
  print_line(fmt::format("key        {}", visible(stats.key)));
  for (const auto& [name, counts] : stats.groups) {
    print_line(terminal.paint(Paint::Strong, name));
    std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.begin(), counts.end());
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
      return std::pair(b.second, a.first) < std::pair(a.second, b.first);
    });
    for (const auto& [value, count] : sorted)
      print_line(fmt::format("  {:>10}  {}", count, visible(value)));
  }
}

Result<int> ledger_stats(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const LedgerCounts stats, ledger::look_at(workspace->store(), [&](auto& view) {
                  return ledger_counts(view, workspace->place().ledger_file());
                }));
  if (context.json()) {
    print_line(visible_json(canonical_json(to_json(stats))));
  } else {
    ledger::LedgerStore& store = workspace->store();
    print_text(stats, context.terminal, store.is_remote() ? store.name() : "");
  }
  return 0;
}

const Command kLedgerStats("ledger stats", "count entries by kind, outcome, tool and agent",
                           ledger_stats);

}  // namespace

}  // namespace sallyport::app
