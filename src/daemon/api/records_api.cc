#include "daemon/api/records_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/schema.h"
#include "base/encoding.h"
#include "base/lower_case.h"
#include "base/try.h"
#include "core/record/stored_record.h"
#include "ledger/proof/receipt.h"
#include "ledger/read/look_at.h"
#include "ledger/read/stored_entry.h"
#include "records/call_timeline.h"
#include "records/entry_text.h"
#include "records/record_rows.h"
#include "records/selection.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;

constexpr std::size_t kMostRecords = 500;  // of one call
constexpr std::size_t kMostReceiptBytes = 16u << 20;
constexpr std::size_t kLongestText = 200;  // of a filter

api::Parameter text_filter() {
  return {"text", "only calls whose tool, agent, server, command, path or cause contains this",
          schema::text()};
}

std::vector<api::Parameter> with_page(std::vector<api::Parameter> filters) {
  const auto text = [](const char* name, const char* about) {
    return api::Parameter{name, about, schema::text()};
  };
  for (const char* const name : {"agent", "session", "run", "server", "tool", "outcome", "call"}) {
    filters.push_back(text(name, "only with this value"));
  }
  filters.push_back(text("since", "not before this time"));
  filters.push_back(text("until", "before this time"));
  filters.push_back(text("order", "asc or desc [desc]"));
  filters.push_back(text("cursor", "cursor of another page"));
  filters.push_back({"limit", "1 to 500 [50]", schema::number()});
  filters.push_back({"tree_size", "the log as it was at this size", schema::number()});
  return filters;
}

Result<ledger::StoredEntry> entry_at(ledger::ReadView& view, const std::string& text) {
  SALLYPORT_TRY(const std::uint64_t sequence, count_from(text, "sequence"));
  SALLYPORT_TRY(std::optional<ledger::StoredEntry> stored, view.entry(sequence));
  if (!stored) return fail(ErrorCode::NotFound, fmt::format("there is no entry {}", sequence));
  SALLYPORT_CHECK_OK(ledger::check_leaf(*stored));
  return std::move(*stored);
}

// The ETag covers the leaf and the state of the openings, which erasure changes.
std::string state_of(const ledger::StoredEntry& stored, const api::Person& person) {
  const bool auditor = person.roles.has(Role::Auditor);
  return fmt::format("{}/{}/{}", hex(stored.leaf), hex(sha256(stored.openings)), auditor);
}

Result<std::vector<ledger::StoredEntry>> entries_of_call(ledger::ReadView& view,
                                                         const std::string& call) {
  std::vector<ledger::StoredEntry> entries;
  SALLYPORT_CHECK_OK(ledger::find_entries(
      view, {.facets = {{ledger::Facet::Call, call}}, .limit = kMostRecords},
      [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
        entries.push_back(stored);
        return true;
      }));
  if (entries.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("there is no call `{:.80}`", call));
  }
  return entries;
}

// True if the row contains the text. Content counts only for people who may read it, so a filter
// reveals no more than the row.
bool says(const CallRow& row, const api::Person& person, const std::string& text) {
  const auto holds = [&](const std::string& shown) {
    return lower_case(shown).find(text) != std::string::npos;
  };
  return holds(row.tool) || holds(row.agent) || holds(row.server) ||
         (person.reads_sealed() && (holds(row.about) || holds(row.why)));
}

MakeRow call_rows(CallRows& rows, const api::Person& person, const PageRequest& page) {
  const std::optional<std::string> verdict = page.verdict;
  const std::vector<std::string_view> outcomes =
      verdict ? outcomes_with(*verdict) : std::vector<std::string_view>();
  return [&rows, person, verdict, outcomes, text = page.text](
             ledger::ReadView& cut,
             const ledger::StoredEntry& stored) -> Result<std::optional<Row>> {
    if (verdict) {  // most calls are ruled out without opening them
      SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
      if (std::ranges::find(outcomes, entry.outcome) == outcomes.end()) {
        return std::optional<Row>();
      }
    }
    SALLYPORT_TRY(std::optional<CallRow> row, rows.newest(cut, stored));
    if (!row || (verdict && row->verdict != *verdict) || (text && !says(*row, person, *text))) {
      return std::optional<Row>();
    }
    return std::optional(Row{stored.sequence, call_row_json(cut_texts(std::move(*row)), person)});
  };
}

Result<PageRequest> calls_page(const api::Request& request) {
  SALLYPORT_TRY(PageRequest page, page_request("calls", request));
  page.filter.facets[ledger::Facet::Kind] = "tool_audit";
  if (const auto text = request.query.get("text"); text && !text->empty()) {
    if (text->size() > kLongestText) {
      return fail(ErrorCode::InvalidInput, fmt::format("`text` has at most {} bytes", kLongestText),
                  "text");
    }
    page.text = lower_case(*text);
  }
  if (!page.verdict) return page;
  const std::vector<std::string_view> outcomes = outcomes_with(*page.verdict);
  if (outcomes.empty()) {
    return fail(ErrorCode::InvalidInput,
                "`verdict` is runs, failed, withheld, cached, refused, skipped, proposed, asks or "
                "unknown",
                "verdict");
  }
  if (outcomes.size() == 1) {
    page.filter.facets.try_emplace(ledger::Facet::Outcome, outcomes.front());
  }
  return page;
}

// The first page of the list without a filter.
bool wants_newest_of_all(const PageRequest& page) {
  return page.filter == ledger::Filter{.facets = {{ledger::Facet::Kind, "tool_audit"}}} &&
         !page.verdict && !page.text && !page.ascending && !page.cursor && !page.tree_size;
}

// The neighbour of a call in a list. If the search stopped before it found one: the cursor of the
// page that continues there.
struct Neighbour {
  json::value call{};
  json::value cursor{};
};

struct Beside {
  ledger::ReadView& view;
  CallRows& calls;
  const api::Request& request;
  const PageRequest& page;
  std::uint64_t sequence;
  std::uint64_t tree_size;

  Result<Neighbour> find(bool back) const {
    SALLYPORT_TRY(const Rows found,
                  rows_behind(view, page, tree_size, sequence, page.ascending != back, 1,
                              call_rows(calls, request.person, page), request.wanted));
    if (!found.rows.empty()) return Neighbour{.call = found.rows.front().shown.at("call_id")};
    if (!found.reached) return Neighbour{};
    const api::Cursor cursor{*found.reached, tree_size, back};
    return Neighbour{.cursor = json::value(cursor.text(page.list, request.query))};
  }
};

Result<api::Response> list_entries(ledger::ReadView& view, const api::Request& request) {
  SALLYPORT_TRY(const PageRequest page, page_request("entries", request));
  const MakeRow make = [](ledger::ReadView&,
                          const ledger::StoredEntry& stored) -> Result<std::optional<Row>> {
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    return std::optional(Row{stored.sequence, entry_row(stored, entry)});
  };
  return page_of(view, page, request, make);
}

}  // namespace

api::Read RecordsApi::on_view(Look look) const {
  return [this, look = std::move(look)](const Request& request) -> Result<api::Response> {
    return ledger::look_at(parts_.ledger.store(),
                           [&](ledger::ReadView& view) { return look(view, request); });
  };
}

Result<void> RecordsApi::note(const Request& request, const std::string& what) const {
  return parts_.opened.note(request.person, what);
}

void RecordsApi::add_to(api::HttpApi& api) {
  add_calls(api);
  add_entries(api);
  add_log(api);
}

void RecordsApi::add_calls(api::HttpApi& api) {
  const api::Roles roles{Role::Viewer, Role::Auditor};
  api.add(
      {.method = "GET",
       .pattern = "calls",
       .roles = roles,
       .handler =
           on_view([this](ledger::ReadView& view, const Request& request) -> Result<api::Response> {
             SALLYPORT_TRY(api::Response answer, list_calls(view, request));
             if (request.person.reads_sealed()) SALLYPORT_CHECK_OK(note(request, "calls"));
             return answer;
           }),
       .words = {
           .name = "listCalls",
           .summary = "Lists calls, one row for each call",
           .query = with_page({{"verdict",
                                "runs, failed, withheld, cached, refused, skipped, proposed, asks "
                                "or unknown",
                                schema::text()},
                               text_filter()}),
           .response = schema::page(schema::object({{"call_id", schema::text()},
                                                    {"sequence", schema::number()},
                                                    {"verdict", schema::text()}}))}});
  api.add({.method = "GET",
           .pattern = "calls/{id}",
           .roles = roles,
           .handler = on_view([this](ledger::ReadView& view, const Request& request) {
             return show_call(view, request);
           }),
           .words = {.name = "showCall",
                     .summary = "Shows every step of one call, from its records alone",
                     .query = with_page({{"verdict", "filter of the list that the call is part of",
                                          schema::text()},
                                         text_filter()}),
                     .response = schema::object({{"call", schema::object()},
                                                 {"records", schema::list(schema::object())},
                                                 {"timeline", schema::list(schema::object())},
                                                 {"policy_hash", schema::text()},
                                                 {"next", schema::or_null(schema::text())},
                                                 {"prev", schema::or_null(schema::text())},
                                                 {"search", schema::object()},
                                                 {"withheld", schema::list(schema::text())}})}});
  api.add({.method = "GET",
           .pattern = "calls/{id}/receipts",
           .roles = {Role::Viewer},
           .handler = on_view([this](ledger::ReadView& view, const Request& request) {
             return receipts(view, request);
           }),
           .words = {.name = "listReceipts",
                     .summary = "Returns a receipt for each entry of a call",
                     .response = schema::list(schema::object())}});
}

void RecordsApi::add_entries(api::HttpApi& api) {
  const api::Roles roles{Role::Viewer};
  api.add({.method = "GET",
           .pattern = "entries",
           .roles = roles,
           .handler = on_view(list_entries),
           .words = {
               .name = "listEntries",
               .summary = "Lists entries of the log",
               .query = with_page({{"kind", "only of this kind", schema::text()},
                                   {"topic", "only of this topic", schema::text()},
                                   {"approval", "only of this approval request", schema::text()}}),
               .response = schema::page(
                   schema::object({{"sequence", schema::number()}, {"kind", schema::text()}}))}});
  api.add({.method = "GET",
           .pattern = "entries/{seq}",
           .roles = roles,
           .handler = on_view([this](ledger::ReadView& view, const Request& request) {
             return show_entry(view, request);
           }),
           .words = {.name = "showEntry",
                     .summary = "Shows one entry; only auditors see its content",
                     .response = schema::object({{"leaf", schema::text()}})}});
  api.add({.method = "GET",
           .pattern = "entries/{seq}/openings",
           .roles = {Role::Auditor},
           .handler = on_view([this](ledger::ReadView& view, const Request& request) {
             return openings(view, request);
           }),
           .words = {.name = "listOpenings",
                     .summary = "Returns the content of the sealed fields of an entry",
                     .response = schema::object({{"sequence", schema::number()},
                                                 {"openings", schema::list(schema::object())}})}});
  api.add(
      {.method = "GET",
       .pattern = "entries/{seq}/receipt",
       .roles = roles,
       .handler = on_view([this](ledger::ReadView& view, const Request& request) {
         return receipt(view, request);
       }),
       .words = {.name = "showReceipt",
                 .summary = "Returns a proof that anyone can check; only auditors get the content",
                 .query = {{"format", "json or tlog-proof [json]", schema::text()}},
                 .response = schema::object()}});
}

Result<api::Response> RecordsApi::list_calls(ledger::ReadView& view, const Request& request) const {
  SALLYPORT_TRY(const PageRequest page, calls_page(request));
  if (wants_newest_of_all(page)) {
    SALLYPORT_TRY(const auto newest, recent_calls_.newest(view, page.limit + 1, request.wanted));
    if (newest) {
      Rows found;
      for (const CallRow& row : *newest) {
        found.rows.push_back({row.sequence, call_row_json(row, request.person)});
      }
      SALLYPORT_TRY(const std::uint64_t size, view.size());
      return page_of(std::move(found), page, request, size);
    }
  }
  return page_of(view, page, request, call_rows(calls_, request.person, page));
}

Result<api::Response> RecordsApi::show_entry(ledger::ReadView& view, const Request& request) const {
  SALLYPORT_TRY(const ledger::StoredEntry stored, entry_at(view, request.at("seq")));
  const std::string leaf = base64(stored.leaf);
  if (!stored.bytes) {
    return api::Response{
        .body = json::object{{"leaf", leaf}, {"sequence", stored.sequence}, {"state", "pruned"}},
        .state = state_of(stored, request.person)};
  }
  SALLYPORT_TRY(OpenedEntry opened, open_entry(stored));
  if (!request.person.roles.has(Role::Auditor)) {
    for (ledger::Opening& opening : opened.openings) {
      if (opening.state != ledger::OpeningState::Open) continue;
      opening.state = ledger::OpeningState::Withheld;
      opening.value.clear();
    }
    opened.body = ledger::opened_body(opened.entry, opened.openings, Numbers::Exact);
  } else if (!opened.openings.empty()) {
    SALLYPORT_CHECK_OK(note(request, fmt::format("entries/{}", stored.sequence)));
  }
  SALLYPORT_TRY(json::value body, parse_own_json(entry_json(opened)));
  body.as_object()["leaf"] = leaf;
  return api::Response{.body = std::move(body), .state = state_of(stored, request.person)};
}

Result<api::Response> RecordsApi::openings(ledger::ReadView& view, const Request& request) const {
  SALLYPORT_TRY(const ledger::StoredEntry stored, entry_at(view, request.at("seq")));
  SALLYPORT_TRY(const std::vector<ledger::Opening> openings, ledger::openings_of(stored));
  if (!openings.empty()) {
    SALLYPORT_CHECK_OK(note(request, fmt::format("entries/{}/openings", stored.sequence)));
  }
  json::array all;
  for (const ledger::Opening& opening : openings) {
    const bool open = opening.state == ledger::OpeningState::Open;
    const bool raw = opening.form == ledger::Form::Raw;
    json::value value;
    if (open && raw) value = base64(as_bytes(opening.value));
    if (open && !raw) {
      SALLYPORT_TRY(value, parse_own_json(opening.value));
    }
    all.push_back(json::object{{"path", opening.path},
                               {"form", raw ? "raw" : "json"},
                               {"state", state_name(opening.state)},
                               {"value", std::move(value)}});
  }
  return api::Response{
      .body = json::object{{"sequence", stored.sequence}, {"openings", std::move(all)}},
      .state = state_of(stored, request.person)};
}

Result<api::Response> RecordsApi::receipt(ledger::ReadView& view, const Request& request) const {
  SALLYPORT_TRY(const std::uint64_t sequence, count_from(request.at("seq"), "sequence"));
  const std::string format = request.query.get("format").value_or("json");
  if (format != "json" && format != "tlog-proof") {
    return fail(ErrorCode::InvalidInput, "`format` is json or tlog-proof", "format");
  }
  const bool with_openings = request.person.roles.has(Role::Auditor);
  SALLYPORT_TRY(const ledger::Receipt made, ledger::make_receipt(view, sequence, with_openings));
  if (!made.openings.empty()) {
    SALLYPORT_CHECK_OK(note(request, fmt::format("entries/{}/receipt", sequence)));
  }
  if (format == "json") return api::Response{.text = made.json() + "\n"};
  return api::Response{.text = made.tlog_proof(), .type = "text/plain; charset=utf-8"};
}

Result<api::Response> RecordsApi::receipts(ledger::ReadView& view, const Request& request) const {
  const std::string& id = request.at("id");
  SALLYPORT_TRY(const auto entries, entries_of_call(view, id));
  const bool with_openings = request.person.roles.has(Role::Auditor);
  std::string all = "[";
  for (const ledger::StoredEntry& stored : entries) {
    SALLYPORT_TRY(
        const ledger::Receipt made,
        ledger::make_receipt(view, stored.sequence, with_openings, entries.back().sequence));
    if (all.size() > 1) all += ",\n";
    all += made.json();
    if (all.size() > kMostReceiptBytes) {
      return fail(ErrorCode::InvalidInput,
                  "the receipts of this call are too large together; ask for one entry at a time");
    }
  }
  if (with_openings) SALLYPORT_CHECK_OK(note(request, fmt::format("calls/{}/receipts", id)));
  return api::Response{.text = all + "]\n"};
}

Result<api::Response> RecordsApi::show_call(ledger::ReadView& view, const Request& request) const {
  const std::string& id = request.at("id");
  SALLYPORT_TRY(const auto entries, entries_of_call(view, id));
  json::array records;
  const ledger::StoredEntry* newest = nullptr;
  for (const ledger::StoredEntry& stored : entries) {
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    records.push_back(json::object{
        {"sequence", entry.sequence}, {"kind", entry.kind}, {"recorded_at", entry.recorded_at}});
    if (entry.kind == "tool_audit") newest = &stored;
  }
  if (newest == nullptr) {
    return fail(ErrorCode::NotFound, fmt::format("call `{:.80}` has no audit record yet", id));
  }
  SALLYPORT_TRY(const OpenedEntry opened, open_entry(*newest));
  json::object entry = opened.entry.get_object();
  entry["body"] = opened.body;
  SALLYPORT_TRY(const AuditRecord record, core::audit_record_of(entry));
  const bool reads = request.person.reads_sealed();
  if (reads) SALLYPORT_CHECK_OK(note(request, "calls/" + id));
  SALLYPORT_TRY(const PageRequest page, calls_page(request));
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  const std::uint64_t tree_size = std::min(page.tree_size.value_or(size), size);
  const Beside beside{view, calls_, request, page, newest->sequence, tree_size};
  SALLYPORT_TRY(const Neighbour next, beside.find(false));
  SALLYPORT_TRY(const Neighbour prev, beside.find(true));
  json::array withheld;
  if (!reads) withheld = {"what", "why", "input", "reason", "result"};
  return api::Response{
      .body = json::object{{"call", call_row_json(call_row(record), request.person)},
                           {"records", std::move(records)},
                           {"timeline", call_timeline(record, opened, request.person)},
                           {"policy_hash", record.policy_hash},
                           {"next", next.call},
                           {"prev", prev.call},
                           {"search", json::object{{"next", next.cursor}, {"prev", prev.cursor}}},
                           {"withheld", std::move(withheld)}}};
}

}  // namespace sallyport::app
