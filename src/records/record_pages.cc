#include "records/record_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "records/prefix_view.h"
#include "records/selection.h"

namespace sallyport::app {

namespace {

constexpr std::uint64_t kMostSequence = (1ull << 53) - 1;
// Entries that one pass reads. Many of them may not be rows.
constexpr std::size_t kFirstPass = 64;
constexpr std::size_t kLargestPass = 256;  // they are held in memory with their content
constexpr std::uint64_t kMostLooked = 2 * ledger::kBlock;  // by one page: a fraction of a second

FilterOptions filters_in(const api::Query& query) {
  const auto get = [&](const char* name) { return query.get(name); };
  return {.call = get("call"),
          .session = get("session"),
          .run = get("run"),
          .agent = get("agent"),
          .server = get("server"),
          .tool = get("tool"),
          .outcome = get("outcome"),
          .kind = get("kind"),
          .topic = get("topic"),
          .approval = get("approval"),
          .since = get("since"),
          .until = get("until")};
}

json::value cursor_of(const PageRequest& page, const api::Request& request, std::uint64_t position,
                      std::uint64_t tree_size, bool back) {
  return json::value(api::Cursor{position, tree_size, back}.text(page.list, request.query));
}

bool unfiltered(const PageRequest& page) {
  return page.filter == ledger::Filter{} && !page.verdict && !page.text;
}

// A view cannot be read while it is scanned, so matches are collected before rows are made of them.
Result<std::vector<ledger::StoredEntry>> oldest_behind(ledger::ReadView& view,
                                                       ledger::Filter filter,
                                                       std::optional<std::uint64_t> after,
                                                       std::size_t count) {
  filter.after = after;
  filter.limit = count;
  std::vector<ledger::StoredEntry> found;
  SALLYPORT_CHECK_OK(ledger::find_entries(
      view, filter,
      [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
        found.push_back(stored);
        return true;
      }));
  return found;
}

// The newest first.
Result<std::vector<ledger::StoredEntry>> newest_before(ledger::ReadView& view,
                                                       const ledger::Filter& filter,
                                                       std::uint64_t end, std::size_t count,
                                                       const std::function<bool()>& wanted,
                                                       Search& search) {
  PrefixView before(view, end, wanted, &search);
  SALLYPORT_TRY(std::vector<ledger::StoredEntry> found,
                ledger::newest_entries(before, filter, count));
  std::ranges::reverse(found);
  return found;
}

}  // namespace

Result<PageRequest> page_request(std::string list, const api::Request& request) {
  PageRequest page{.list = std::move(list)};
  const api::Query& query = request.query;
  SALLYPORT_TRY(page.filter, filter_from(filters_in(query), Spelling::Member));
  SALLYPORT_TRY(const auto limit, query.number("limit", 1, 500));
  if (limit) page.limit = static_cast<std::size_t>(*limit);
  SALLYPORT_TRY(page.tree_size, query.number("tree_size", 0, kMostSequence));
  page.verdict = query.get("verdict");
  const std::string order = query.get("order").value_or("desc");
  if (order != "asc" && order != "desc") {
    return fail(ErrorCode::InvalidInput, "`order` is `asc` or `desc`", "order");
  }
  page.ascending = order == "asc";
  if (const auto cursor = query.get("cursor")) {
    SALLYPORT_TRY(page.cursor, api::Cursor::parse(*cursor, page.list, query));
  }
  return page;
}

Result<Rows> rows_behind(ledger::ReadView& view, const PageRequest& page, std::uint64_t tree_size,
                         std::optional<std::uint64_t> from, bool ascending, std::size_t count,
                         const MakeRow& make, const std::function<bool()>& wanted) {
  Rows rows;
  Search search{.left = kMostLooked};
  PrefixView whole(view, tree_size, wanted);
  PrefixView searched(view, tree_size, wanted, &search);
  std::optional<std::uint64_t> edge = from;
  // Passes grow, because each reads its first block again.
  for (std::size_t pass = std::clamp(count, kFirstPass, kLargestPass);;
       pass = std::min(2 * pass, kLargestPass)) {
    search.lowest = std::min(edge.value_or(tree_size), tree_size);
    search.highest = edge ? *edge + 1 : 0;
    SALLYPORT_TRY(
        const std::vector<ledger::StoredEntry> found,
        ascending ? oldest_behind(searched, page.filter, edge, pass)
                  : newest_before(view, page.filter, std::min(edge.value_or(tree_size), tree_size),
                                  pass, wanted, search));
    for (const ledger::StoredEntry& stored : found) {
      if (!wanted()) return fail(ErrorCode::Cancelled, "the caller no longer waits");
      SALLYPORT_TRY(std::optional<Row> row, make(whole, stored));
      if (row) rows.rows.push_back(std::move(*row));
      if (rows.rows.size() == count) return rows;
    }
    if (search.stopped) rows.reached = ascending ? search.highest - 1 : search.lowest;
    if (search.stopped || found.size() < pass) return rows;
    edge = found.back().sequence;
  }
}

Result<api::Response> page_of(ledger::ReadView& view, const PageRequest& page,
                              const api::Request& request, const MakeRow& make) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  std::uint64_t tree_size = page.tree_size.value_or(size);
  if (page.cursor) tree_size = page.cursor->tree_size;
  if (tree_size > size) {
    return fail(ErrorCode::InvalidInput, fmt::format("the log has {} entries", size), "tree_size");
  }
  const bool back = page.cursor && page.cursor->back;
  std::optional<std::uint64_t> from;
  if (page.cursor) from = page.cursor->position;
  SALLYPORT_TRY(Rows found, rows_behind(view, page, tree_size, from, page.ascending != back,
                                        page.limit + 1, make, request.wanted));
  return page_of(std::move(found), page, request, tree_size);
}

api::Response page_of(Rows found, const PageRequest& page, const api::Request& request,
                      std::uint64_t tree_size) {
  const bool back = page.cursor && page.cursor->back;
  std::vector<Row>& rows = found.rows;
  const bool full = rows.size() > page.limit;
  const bool more = full || found.reached;
  if (full) rows.resize(page.limit);
  if (back) std::ranges::reverse(rows);
  const bool has_next = back ? page.cursor.has_value() : more;
  const bool has_prev = back ? more : page.cursor.has_value();
  // After a page that was not filled, the next one continues where the search stopped.
  json::array items;
  for (Row& row : rows) items.push_back(std::move(row.shown));
  json::object body{{"items", std::move(items)}, {"next", nullptr}, {"prev", nullptr}};
  // The cursor back from an empty page includes the entry where the page began.
  const std::uint64_t begin = page.cursor ? page.cursor->position : 0;
  const std::uint64_t before = begin == 0 ? 0 : begin - 1;
  if (has_next) {
    std::uint64_t at = page.ascending ? before : begin + 1;
    if (!rows.empty()) at = rows.back().sequence;
    body["next"] =
        cursor_of(page, request, back ? at : found.reached.value_or(at), tree_size, false);
  }
  if (has_prev) {
    std::uint64_t at = page.ascending ? begin + 1 : before;
    if (!rows.empty()) at = rows.front().sequence;
    body["prev"] =
        cursor_of(page, request, back ? found.reached.value_or(at) : at, tree_size, true);
  }
  const bool every = page.list == "entries" && unfiltered(page);
  body["tree_size"] = tree_size;
  body["total"] = every ? tree_size : rows.size() + (full ? 1 : 0);
  body["exact"] = every || (!has_next && !has_prev);
  body["reached"] = nullptr;
  if (found.reached) {
    body["reached"] = json::object{{"sequence", *found.reached}, {"side", back ? "prev" : "next"}};
  }
  return api::Response{.body = std::move(body)};
}

}  // namespace sallyport::app
