#include "records/call_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/json_members.h"
#include "base/try.h"
#include "core/record/stored_record.h"
#include "records/entry_text.h"

namespace sallyport::app {

namespace {

// Members that describe a call, the most useful first.
constexpr const char* kTelling[] = {"command", "cmd",   "script", "file_path", "path", "url",
                                    "uri",     "query", "sql",    "pattern",   "name"};

bool was_withheld(const AuditRecord& record) {
  const json::object* const second_door = record.post_invocation.if_object();
  return second_door != nullptr && text_in(*second_door, "verdict") == "block";
}

std::string verdict_of(const AuditRecord& record) {
  switch (record.outcome.kind) {
    case Outcome::Kind::Completed:
      if (was_withheld(record)) return "withheld";
      return record.outcome.result && record.outcome.result->success ? "runs" : "failed";
    case Outcome::Kind::Cached:
    case Outcome::Kind::Replayed:
      return "cached";
    case Outcome::Kind::RequiresConfirmation:
      return record.autonomy == Autonomy::Suggest ? "proposed" : "asks";
    case Outcome::Kind::Blocked:
      return record.autonomy == Autonomy::Shadow ? "skipped" : "refused";
    case Outcome::Kind::Invalidated:
      return "refused";
    case Outcome::Kind::PersistenceFailed:
      return "unknown";
  }
  return "unknown";
}

// The guard that decided, with its rule; else the reason of the outcome; else the tier.
std::string why_of(const AuditRecord& record) {
  const bool answered = record.outcome.kind == Outcome::Kind::Completed && record.outcome.result;
  if (answered && !record.outcome.result->success) {
    const std::string& output = record.outcome.result->output;
    return output.substr(0, output.find('\n'));
  }
  for (const GuardRun& run : record.guards) {
    const bool decided = run.verdict == GuardVerdict::Deny || run.verdict == GuardVerdict::Ask ||
                         run.verdict == GuardVerdict::Error;
    if (!decided) continue;
    return run.rule ? fmt::format("{}: {}", run.guard, *run.rule)
                    : fmt::format("{}{}{}", run.guard, run.why ? ": " : "", run.why.value_or(""));
  }
  if (!record.outcome.text.empty()) return record.outcome.text;
  if (record.approval_id) return fmt::format("approval {}", *record.approval_id);
  if (record.autonomy_source == "not_weighed") return "refused before its tier was weighed";
  return fmt::format("{} ({})", to_string(record.autonomy), record.autonomy_source);
}

}  // namespace

std::string call_subject(const json::value& input) {
  // For a prepared operation, the requested input.
  if (const json::object* const operation = input.if_object()) {
    const json::value* const asked = operation->if_contains("requested_input");
    if (asked != nullptr && operation->contains("operation_id")) return call_subject(*asked);
  }
  const json::object* const members = input.if_object();
  if (members == nullptr) return input.is_null() ? "" : compact_json(input);
  if (members->contains("$sealed")) return fmt::format("[{}]", text_or_empty(*members, "state"));
  for (const char* const name : kTelling) {
    const json::value* const value = members->if_contains(name);
    if (value == nullptr) continue;
    if (value->is_string()) return std::string(value->get_string());
    if (value->is_array()) return compact_json(*value);
  }
  return members->empty() ? "" : compact_json(input);
}

CallRow call_row(const AuditRecord& record) {
  return {.time = record.recorded_at,
          .sequence = record.sequence,
          .call_id = record.call_id,
          .agent = record.agent_id,
          .server = record.server,
          .tool = record.tool_name,
          .about = call_subject(record.effective_input),
          .verdict = verdict_of(record),
          .why = why_of(record)};
}

std::vector<std::string_view> outcomes_with(std::string_view verdict) {
  if (verdict == "runs" || verdict == "failed" || verdict == "withheld") return {"completed"};
  if (verdict == "cached") return {"cached", "replayed"};
  if (verdict == "proposed" || verdict == "asks") return {"requires_confirmation"};
  if (verdict == "skipped") return {"blocked"};
  if (verdict == "refused") return {"blocked", "invalidated"};
  if (verdict == "unknown") return {"persistence_failed"};
  return {};
}

namespace {

// A row for each call, as its newest record says.
Result<std::vector<CallRow>> rows_of(const std::vector<ledger::StoredEntry>& entries) {
  std::vector<CallRow> rows;
  std::map<std::string, std::size_t> places;
  for (const ledger::StoredEntry& stored : entries) {
    SALLYPORT_TRY(const OpenedEntry opened, open_entry(stored));
    json::object entry = opened.entry.get_object();
    entry["body"] = opened.body;
    SALLYPORT_TRY(const AuditRecord record, core::audit_record_of(entry));
    CallRow row = call_row(record);
    const auto [place, fresh] = places.try_emplace(row.call_id, rows.size());
    if (fresh) {
      rows.push_back(std::move(row));
    } else {
      rows[place->second] = std::move(row);
    }
  }
  return rows;
}

}  // namespace

Result<std::vector<CallRow>> list_calls(ledger::ReadView& view, ledger::Filter filter,
                                        std::size_t count) {
  filter.facets[ledger::Facet::Kind] = "tool_audit";
  // Most calls have one record, or a question and an end. One that was asked about again has more.
  std::vector<CallRow> rows;
  for (std::size_t records = count * 2; rows.size() < count; records *= 2) {
    SALLYPORT_TRY(const std::vector<ledger::StoredEntry> entries,
                  ledger::newest_entries(view, filter, records));
    SALLYPORT_TRY(rows, rows_of(entries));
    if (entries.size() < records) break;
  }
  std::ranges::sort(rows, {}, &CallRow::sequence);
  if (rows.size() > count) rows.erase(rows.begin(), rows.end() - static_cast<long>(count));
  return rows;
}

}  // namespace sallyport::app
