#include "records/record_rows.h"

#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/record/stored_record.h"
#include "records/entry_text.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestCell = 100;
constexpr std::size_t kMostKept = 4096;     // rows
constexpr std::size_t kLongestKept = 1024;  // bytes of the texts of one

// Covers everything that a row is made of. Erasing changes the openings.
std::string state_of(const ledger::StoredEntry& stored) {
  const Hash openings = sha256(stored.openings);
  std::string state(stored.leaf.begin(), stored.leaf.end());
  return state.append(openings.begin(), openings.end());
}

}  // namespace

json::object entry_row(const ledger::StoredEntry& stored, const ledger::EntryView& entry) {
  std::uint64_t open = 0;
  std::uint64_t withheld = 0;
  std::uint64_t erased = 0;
  if (const auto openings = ledger::unpack_openings(stored.openings)) {
    for (const ledger::Opening& opening : *openings) {
      open += opening.state == ledger::OpeningState::Open;
      withheld += opening.state == ledger::OpeningState::Withheld;
      erased += opening.state == ledger::OpeningState::Erased;
    }
  }
  return {{"sequence", entry.sequence},
          {"recorded_at", entry.recorded_at},
          {"kind", entry.kind},
          {"outcome", text_or_null(entry.outcome)},
          {"tool_name", text_or_null(entry.tool_name)},
          {"server", text_or_null(entry.server)},
          {"agent_id", text_or_null(entry.agent_id)},
          {"session_id", text_or_null(entry.session_id)},
          {"call_id", text_or_null(entry.call_id)},
          {"topic", text_or_null(entry.topic)},
          {"leaf", base64(stored.leaf)},
          {"openings", json::object{{"open", open}, {"withheld", withheld}, {"erased", erased}}}};
}

json::object call_row_json(const CallRow& row, const api::Person& person) {
  const auto content = [&](const std::string& text) {
    return person.reads_sealed() ? json::value(text) : json::value();
  };
  return {{"time", row.time},           {"sequence", row.sequence},
          {"call_id", row.call_id},     {"agent", row.agent},
          {"server", row.server},       {"tool", row.tool},
          {"what", content(row.about)}, {"verdict", row.verdict},
          {"why", content(row.why)}};  // it may quote a tool
}

CallRow cut_texts(CallRow row) {
  row.about = cut_utf8_bytes(row.about, kLongestCell);
  row.why = cut_utf8_bytes(row.why, kLongestCell);
  return row;
}

Result<OpenedRow> open_row(const ledger::StoredEntry& stored) {
  SALLYPORT_TRY(OpenedEntry opened, open_entry(stored));
  const bool terminal =
      opened.body.is_object() && bool_in(opened.body.get_object(), "terminal").value_or(false);
  json::object entry = std::move(opened.entry.get_object());
  entry["body"] = std::move(opened.body);
  SALLYPORT_TRY(const AuditRecord record, core::audit_record_of(entry));
  return OpenedRow{call_row(record), terminal};
}

Result<std::optional<CallRow>> CallRows::newest(ledger::ReadView& view,
                                                const ledger::StoredEntry& stored) {
  const std::string state = state_of(stored);
  const auto known = kept_.with([&](const auto& kept) {
    const auto found = kept.find(state);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  });
  if (known) return known;
  SALLYPORT_TRY(OpenedRow opened, open_row(stored));
  CallRow& row = opened.row;
  if (!opened.terminal) {
    const ledger::Filter same{
        .facets = {{ledger::Facet::Call, row.call_id}, {ledger::Facet::Kind, "tool_audit"}}};
    SALLYPORT_TRY(const auto newest, ledger::newest_entries(view, same, 1));
    if (!newest.empty() && newest.front().sequence != stored.sequence) {
      return std::optional<CallRow>();
    }
  }
  if (opened.terminal && row.about.size() + row.why.size() <= kLongestKept) {
    kept_.with([&](auto& kept) {
      if (kept.size() >= kMostKept) kept.clear();
      kept.emplace(state, row);
    });
  }
  return std::optional(std::move(row));
}

}  // namespace sallyport::app
