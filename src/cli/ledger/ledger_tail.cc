#include <algorithm>
#include <chrono>
#include <thread>

#include "base/try.h"
#include "cli/common_options.h"
#include "records/entry_text.h"
#include "records/selection.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct TailOptions {
  std::optional<std::string> count;
  bool follow = false;
  FilterOptions filter;
};

constexpr std::uint64_t kUsual = 20;
constexpr std::uint64_t kMost = 100'000;

Result<void> print(const Context& context, const std::vector<ledger::StoredEntry>& entries) {
  for (const ledger::StoredEntry& stored : entries) {
    SALLYPORT_TRY(const OpenedEntry entry, open_entry(stored));
    print_line(context.json() ? entry_json(entry) : entry_line(entry, context.terminal));
  }
  return finish_output();
}

// Runs until the user stops the process or the output is no longer read. Readers do not delay
// writers, so looking often costs them nothing.
Result<int> follow(const Context& context, Workspace& workspace, ledger::Filter filter) {
  constexpr auto kPause = std::chrono::milliseconds(250);
  while (true) {
    std::vector<ledger::StoredEntry> entries;
    SALLYPORT_CHECK_OK(workspace.store().read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(const std::uint64_t size, view.size());
      if (size == 0 || (filter.after && *filter.after >= size - 1)) return {};
      SALLYPORT_CHECK_OK(ledger::find_entries(
          view, filter, [&](const ledger::StoredEntry& stored, const ledger::EntryView&) {
            entries.push_back(stored);
            return Result<bool>(true);
          }));
      filter.after = size - 1;
      return {};
    }));
    SALLYPORT_CHECK_OK(print(context, entries));
    std::this_thread::sleep_for(kPause);
  }
}

Result<int> ledger_tail(const Context& context, const TailOptions& options) {
  SALLYPORT_TRY(ledger::Filter filter, filter_from(options.filter));
  const std::string asked = options.count.value_or(std::to_string(kUsual));
  const bool only_new = options.follow && asked == "0";
  SALLYPORT_TRY(const std::uint64_t count, only_new ? 0 : limit_from(asked, "-n", kMost));
  if (count > kMost) {
    return fail(ErrorCode::InvalidInput,
                "-n must be from 1 to 100000; use `sallyport ledger show` for more");
  }
  const auto never = [] { return false; };
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace,
                options.follow ? context.await_reading(never) : context.open_reading());
  std::vector<ledger::StoredEntry> entries;
  std::uint64_t size = 0;
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(size, view.size());
    SALLYPORT_CHECK_OK(complete_call(view, filter));
    SALLYPORT_TRY(entries, ledger::newest_entries(view, filter, count));
    return {};
  }));
  if (entries.empty() && !options.follow) {
    return std::unexpected(nothing_found(options.filter));
  }
  if (!context.json()) print_line(entry_line_header(context.terminal));
  SALLYPORT_CHECK_OK(print(context, entries));
  if (!options.follow) return 0;
  if (size > 0) filter.after = std::max(size - 1, filter.after.value_or(0));
  return follow(context, *workspace, std::move(filter));
}

const Command kLedgerTail("ledger tail", "list the newest entries", ledger_tail,
                          [](Syntax& syntax, TailOptions& options) {
                            syntax.text("-n,--lines,--limit", options.count,
                                        "how many entries [20]", "N");
                            syntax.flag("-f,--follow", options.follow, "wait for more entries");
                            filter_options(syntax, options.filter);
                          });

}  // namespace

}  // namespace sallyport::app
