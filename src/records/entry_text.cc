#include "records/entry_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/record/stored_record.h"
#include "ledger/read/stored_entry.h"
#include "records/entry_summary.h"

namespace sallyport::app {

namespace {

std::string member(const OpenedEntry& entry, std::string_view name) {
  return visible(text_in(entry.entry.get_object(), name).value_or(""));
}

Paint paint_of(std::string_view outcome) {
  if (outcome == "completed" || outcome == "cached" || outcome == "replayed") return Paint::Good;
  if (outcome == "blocked" || outcome == "persistence_failed") return Paint::Bad;
  return Paint::Doubtful;
}

// `2026-11-15T02:00:00.123456Z` as people read it.
std::string time_of(std::string_view recorded_at) {
  if (recorded_at.size() < 23) return std::string(recorded_at);
  return fmt::format("{} {}Z", recorded_at.substr(0, 10), recorded_at.substr(11, 12));
}

struct TextRow {
  std::string_view time, sequence, kind, outcome, tool, agent, summary;
};

constexpr std::size_t kSummaryColumn = 24 + 2 + 8 + 2 + 11 + 1 + 12 + 1 + 20 + 1 + 14 + 1;

std::string row_text(const TextRow& row, const Terminal& terminal) {
  const std::size_t room = std::max<std::size_t>(terminal.width(), kSummaryColumn + 24);
  return fmt::format(
      "{}  {:>8}  {} {} {} {} {}", fitted(row.time, 24), row.sequence, fitted(row.kind, 11),
      row.outcome.empty() ? fitted("", 12)
                          : terminal.paint(paint_of(row.outcome), fitted(row.outcome, 12)),
      fitted(row.tool, 20), fitted(row.agent, 14), shortened(row.summary, room - kSummaryColumn));
}

// The shape that readers of such records know, where there is one (AU-1, EV-61, EV-79).
json::value known_shape(const OpenedEntry& entry) {
  json::object opened = entry.entry.get_object();
  opened["body"] = entry.body;
  const std::string kind = member(entry, "kind");
  if (kind == "tool_audit") return core::audit_json(opened);
  if (kind == "event") return core::event_json(opened);
  if (kind == "hook_failed") return core::failure_json(opened);
  return nullptr;
}

}  // namespace

Result<OpenedEntry> open_entry(const ledger::StoredEntry& stored) {
  if (!stored.bytes) {
    return fail(ErrorCode::NotFound,
                fmt::format("the bytes of entry {} were pruned; its hash is still part of the tree",
                            stored.sequence));
  }
  OpenedEntry entry;
  SALLYPORT_TRY(entry.entry, parse_own_json(*stored.bytes));
  SALLYPORT_TRY(entry.openings, ledger::openings_of(stored));
  if (!entry.entry.is_object() || !entry.entry.get_object().contains("body")) {
    return fail(
        ErrorCode::Corrupt,
        fmt::format("entry {} is not an entry; run `sallyport ledger verify`", stored.sequence));
  }
  entry.body = ledger::opened_body(entry.entry, entry.openings, Numbers::Exact);
  return entry;
}

std::string entry_line_header(const Terminal& terminal) {
  return terminal.paint(Paint::Faint,
                        row_text({"time", "sequence", "kind", "outcome", "tool", "agent", "what"},
                                 Terminal({.width = terminal.width()})));
}

std::string entry_line(const OpenedEntry& entry, const Terminal& terminal) {
  const auto sequence = number_in(entry.entry.get_object(), "sequence").value_or(0);
  const std::string time = time_of(member(entry, "recorded_at"));
  const std::string place = std::to_string(sequence);
  const std::string kind = member(entry, "kind");
  const std::string outcome = member(entry, "outcome");
  const std::string tool = member(entry, "tool_name");
  const std::string agent = member(entry, "agent_id");
  const std::string what = summary_of(entry.entry, entry.body);
  return row_text({time, place, kind, outcome, tool, agent, what}, terminal);
}

std::string entry_page(const OpenedEntry& entry, const Terminal& terminal) {
  const json::object& object = entry.entry.get_object();
  const auto sequence = number_in(object, "sequence").value_or(0);
  std::string out = terminal.paint(Paint::Strong, fmt::format("entry {}", sequence)) + "\n";
  const auto row = [&](std::string_view name, std::string_view text) {
    out += fmt::format("  {:<13} {}\n", name, text);
  };
  for (const std::string_view name :
       {"id", "recorded_at", "kind", "outcome", "tool_name", "server", "agent_id", "session_id",
        "run_id", "call_id", "policy_hash", "trace_id", "topic", "instance_id", "schema"}) {
    if (const std::string text = member(entry, name); !text.empty()) row(name, text);
  }
  if (const auto topic = number_in(object, "topic_id")) row("topic_id", std::to_string(*topic));
  if (const std::string asserted = assertion_in(entry.body); !asserted.empty()) {
    row("asserted", asserted);
  }
  row("body", json_in_lines(entry.body, 2));
  for (const ledger::Opening& opening : entry.openings) {
    row("field", fmt::format("{:<9} {}", state_name(opening.state), visible(opening.path)));
  }
  if (const json::value* const redactions = object.if_contains("redactions")) {
    row("redactions", json_in_lines(*redactions, 2));
  }
  row("receipt", fmt::format("sallyport ledger receipt {} --out receipt.json", sequence));
  out.pop_back();
  return out;
}

std::string entry_json(const OpenedEntry& entry) {
  json::array openings;
  for (const ledger::Opening& opening : entry.openings) {
    openings.push_back(json::object{{"path", opening.path},
                                    {"form", opening.form == ledger::Form::Raw ? "raw" : "json"},
                                    {"state", state_name(opening.state)}});
  }
  json::object shown{
      {"entry", entry.entry}, {"openings", std::move(openings)}, {"body", entry.body}};
  if (json::value record = known_shape(entry); !record.is_null()) {
    shown["record"] = std::move(record);
  }
  return visible_json(canonical_json(shown));
}

}  // namespace sallyport::app
