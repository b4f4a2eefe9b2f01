#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/cli/commands.h"
#include "app/output.h"
#include "app/records/selection.h"
#include "base/try.h"
#include "sallyport/outcome.h"

namespace sallyport::app {

namespace {

using Counts = std::map<std::string, std::uint64_t>;

struct Stats {
  std::uint64_t size = 0;
  std::string first_at;
  std::string last_at;
  std::string key;
  std::uint64_t ledger_bytes = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t calls = 0;  // that have ended
  std::vector<std::pair<std::string, Counts>> counts;
};

// Every call ends in exactly one record; only a question is a record that ends none.
std::uint64_t ended_calls(const Counts& outcomes) {
  std::uint64_t calls = 0;
  for (const auto& [outcome, count] : outcomes) {
    const auto kind = outcome_kind_from(outcome);
    if (kind && *kind != Outcome::Kind::RequiresConfirmation) calls += count;
  }
  return calls;
}

std::uint64_t bytes_of(const std::filesystem::path& file) {
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(file, code);
  return code ? 0 : bytes;
}

Result<void> read_times(ledger::ReadView& view, Stats& stats) {
  const auto time_of = [](const ledger::StoredEntry& stored) -> Result<std::string> {
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    return entry.recorded_at;
  };
  SALLYPORT_CHECK_OK(
      view.scan(0, stats.size, [&](const ledger::StoredEntry& stored) -> Result<bool> {
        if (!stored.bytes) return true;
        SALLYPORT_TRY(stats.first_at, time_of(stored));
        return false;
      }));
  SALLYPORT_TRY(const std::optional<ledger::StoredEntry> last, view.entry(stats.size - 1));
  if (last && last->bytes) {
    SALLYPORT_TRY(stats.last_at, time_of(*last));
  }
  return {};
}

Result<Stats> read_stats(Workspace& workspace) {
  Stats stats;
  stats.ledger_bytes = bytes_of(workspace.place().ledger_file());
  stats.log_bytes = bytes_of(workspace.place().ledger_file().string() + "-wal");
  constexpr std::pair<const char*, ledger::Facet> kFacets[] = {{"kinds", ledger::Facet::Kind},
                                                               {"outcomes", ledger::Facet::Outcome},
                                                               {"tools", ledger::Facet::Tool},
                                                               {"agents", ledger::Facet::Agent}};
  SALLYPORT_CHECK_OK(workspace.store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(stats.size, view.size());
    SALLYPORT_TRY(const std::optional<std::string> key, view.fact("ledger", "key"));
    stats.key = key.value_or("");
    for (const auto& [name, facet] : kFacets) {
      SALLYPORT_TRY(Counts counts, ledger::count_by(view, facet));
      if (facet == ledger::Facet::Outcome) stats.calls = ended_calls(counts);
      stats.counts.emplace_back(name, std::move(counts));
    }
    return stats.size == 0 ? Result<void>{} : read_times(view, stats);
  }));
  return stats;
}

void print_json(const Stats& stats) {
  json::object object{
      {"size", stats.size},          {"calls", stats.calls}, {"first_at", stats.first_at},
      {"last_at", stats.last_at},    {"key", stats.key},     {"ledger_bytes", stats.ledger_bytes},
      {"log_bytes", stats.log_bytes}};
  for (const auto& [name, counts] : stats.counts) {
    json::object& group = object[name].emplace_object();
    for (const auto& [value, count] : counts) group[value] = count;
  }
  say(visible_json(canonical_json(object)));
}

void print_text(const Stats& stats, const Terminal& terminal) {
  say(fmt::format("entries    {}", stats.size));
  say(fmt::format("calls      {}", stats.calls));
  say(fmt::format("from       {}", stats.first_at));
  say(fmt::format("to         {}", stats.last_at));
  say(fmt::format("file       {} bytes, write-ahead log {} bytes", stats.ledger_bytes,
                  stats.log_bytes));
  say(fmt::format("key        {}", visible(stats.key)));
  for (const auto& [name, counts] : stats.counts) {
    say(terminal.paint(Paint::Strong, name));
    std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.begin(), counts.end());
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
      return std::pair(b.second, a.first) < std::pair(a.second, b.first);
    });
    for (const auto& [value, count] : sorted)
      say(fmt::format("  {:>10}  {}", count, visible(value)));
  }
}

}  // namespace

Result<int> ledger_stats(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const Stats stats, read_stats(*workspace));
  if (context.json()) {
    print_json(stats);
  } else {
    print_text(stats, context.terminal);
  }
  return 0;
}

}  // namespace sallyport::app
