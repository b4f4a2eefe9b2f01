// `sallyport ledger calls`: one line for each call.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/read/look_at.h"
#include "records/call_list.h"
#include "records/selection.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct CallsOptions {
  std::optional<std::string> count;
  FilterOptions filter;
};

constexpr std::uint64_t kUsualCalls = 20;
constexpr std::uint64_t kMostCalls = 10'000;
constexpr std::size_t kWhat = 40;
constexpr std::size_t kColumnsBeforeWhy = 19 + 2 + 18 + 1 + 10 + 1 + 18 + 1 + kWhat + 1 + 9;

Paint paint_of(std::string_view verdict) {
  if (verdict == "runs" || verdict == "cached") return Paint::Good;
  if (verdict == "refused" || verdict == "unknown") return Paint::Bad;
  return Paint::Doubtful;
}

// `2026-11-15T02:00:00.123456Z` as people read it; all times are in UTC.
std::string short_time(const std::string& time) {
  if (time.size() < 19) return time;
  return fmt::format("{} {}", time.substr(0, 10), time.substr(11, 8));
}

// The end of a long path tells more than its beginning.
std::string fitted_subject(const std::string& subject) {
  const std::string text = visible(subject);
  if (!text.starts_with('/') || columns(text) <= kWhat) return fitted(text, kWhat);
  std::string_view tail = text;
  while (columns(tail) > kWhat - 3) tail.remove_prefix(1);
  return fitted(fmt::format("...{}", tail), kWhat);
}

std::string line(const CallRow& row, const Terminal& terminal) {
  const std::size_t room = std::max(terminal.width(), kColumnsBeforeWhy + 24) - kColumnsBeforeWhy;
  return fmt::format("{}  {} {} {} {} {} {}", fitted(short_time(row.time), 19),
                     fitted(visible(row.agent), 18), fitted(visible(row.server), 10),
                     fitted(visible(row.tool), 18), fitted_subject(row.about),
                     terminal.paint(paint_of(row.verdict), fitted(row.verdict, 8)),
                     shortened(visible(row.why), room));
}

std::string header(const Terminal& terminal) {
  return terminal.paint(Paint::Strong,
                        fmt::format("{:<19}  {:<18} {:<10} {:<18} {:<40} {:<8} {}", "when (UTC)",
                                    "agent", "server", "tool", "what", "verdict", "why"));
}

json::object to_json(const CallRow& row) {
  return {{"time", row.time},   {"sequence", row.sequence}, {"call_id", row.call_id},
          {"agent", row.agent}, {"server", row.server},     {"tool", row.tool},
          {"what", row.about},  {"verdict", row.verdict},   {"why", row.why}};
}

Result<int> ledger_calls(const Context& context, const CallsOptions& options) {
  SALLYPORT_TRY(ledger::Filter filter, filter_from(options.filter));
  SALLYPORT_TRY(const std::uint64_t count,
                count_from(options.count.value_or(std::to_string(kUsualCalls)), "-n"));
  if (count == 0 || count > kMostCalls) {
    return fail(ErrorCode::InvalidInput, "-n must be from 1 to 10000");
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  using Rows = std::vector<CallRow>;
  SALLYPORT_TRY(const Rows rows,
                ledger::look_at(workspace->store(), [&](ledger::ReadView& view) -> Result<Rows> {
                  SALLYPORT_CHECK_OK(complete_call(view, filter));
                  return list_calls(view, filter, count);
                }));
  if (rows.empty()) return std::unexpected(nothing_found(options.filter));
  if (!context.json()) print_line(header(context.terminal));
  for (const CallRow& row : rows) {
    print_line(context.json() ? visible_json(canonical_json(to_json(row)))
                              : line(row, context.terminal));
  }
  SALLYPORT_CHECK_OK(finish_output());
  return 0;
}

const Command kLedgerCalls("ledger calls", "list the newest calls, one per line", ledger_calls,
                           [](Syntax& syntax, CallsOptions& options) {
                             syntax.text("-n,--lines,--limit", options.count, "how many calls [20]",
                                         "N");
                             filter_options(syntax, options.filter);
                           });

}  // namespace

}  // namespace sallyport::app
