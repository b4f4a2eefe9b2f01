#include "records/ledger_counts.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "ledger/entry/entry.h"
#include "ledger/read/query.h"
#include "sallyport/outcome.h"

namespace sallyport::app {

namespace {

// Every call ends in exactly one record. Only records of questions end no call.
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

Result<void> read_times(ledger::ReadView& view, LedgerCounts& counts) {
  const auto time_of = [](const ledger::StoredEntry& stored) -> Result<std::string> {
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    return entry.recorded_at;
  };
  SALLYPORT_CHECK_OK(
      view.scan(0, counts.size, [&](const ledger::StoredEntry& stored) -> Result<bool> {
        if (!stored.bytes) return true;
        SALLYPORT_TRY(counts.first_at, time_of(stored));
        return false;
      }));
  SALLYPORT_TRY(const std::optional<ledger::StoredEntry> last, view.entry(counts.size - 1));
  if (last && last->bytes) {
    SALLYPORT_TRY(counts.last_at, time_of(*last));
  }
  return {};
}

}  // namespace

Result<LedgerCounts> ledger_counts(ledger::ReadView& view, const std::filesystem::path& file) {
  constexpr std::pair<const char*, ledger::Facet> kFacets[] = {{"kinds", ledger::Facet::Kind},
                                                               {"outcomes", ledger::Facet::Outcome},
                                                               {"tools", ledger::Facet::Tool},
                                                               {"agents", ledger::Facet::Agent}};
  LedgerCounts counts{.ledger_bytes = bytes_of(file),
                      .log_bytes = bytes_of(file.string() + "-wal")};
  SALLYPORT_TRY(counts.size, view.size());
  SALLYPORT_TRY(const std::optional<std::string> key, view.fact("ledger", "key"));
  counts.key = key.value_or("");
  for (const auto& [name, facet] : kFacets) {
    SALLYPORT_TRY(Counts group, ledger::count_by(view, facet));
    if (facet == ledger::Facet::Outcome) counts.calls = ended_calls(group);
    counts.groups.emplace_back(name, std::move(group));
  }
  if (counts.size > 0) SALLYPORT_CHECK_OK(read_times(view, counts));
  return counts;
}

json::object to_json(const LedgerCounts& counts) {
  json::object object{{"size", counts.size},
                      {"calls", counts.calls},
                      {"first_at", counts.first_at},
                      {"last_at", counts.last_at},
                      {"key", counts.key},
                      {"ledger_bytes", counts.ledger_bytes},
                      {"log_bytes", counts.log_bytes}};
  for (const auto& [name, values] : counts.groups) {
    json::object& group = object[name].emplace_object();
    for (const auto& [value, count] : values) group[value] = count;
  }
  return object;
}

}  // namespace sallyport::app
