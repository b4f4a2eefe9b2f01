// Pages of entries and of calls: newest first or oldest first, cut at one size of the log, so that
// no row is missing or repeated while entries are appended (CO-43, CO-45).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/cursor.h"
#include "api/route.h"
#include "ledger/read/query.h"
#include "records/call_list.h"

namespace sallyport::app {

// The request for a page of a list.
struct PageRequest {
  std::string list;  // the name of the route, for cursors
  ledger::Filter filter{};
  std::optional<std::string> verdict{};  // of calls
  std::optional<std::string> text{};     // of calls: a part of what a row shows, in lower case
  std::size_t limit = 50;
  bool ascending = false;
  std::optional<api::Cursor> cursor{};
  std::optional<std::uint64_t> tree_size{};
};
// `InvalidInput`: a value is malformed.
Result<PageRequest> page_request(std::string list, const api::Request& request);

// A row of some list, with its place in the log.
struct Row {
  std::uint64_t sequence = 0;
  json::object shown{};
};
// No value: this entry is not a row of the list. `cut` ends at the tree size of the page.
using MakeRow = std::function<Result<std::optional<Row>>(ledger::ReadView& cut,
                                                         const ledger::StoredEntry& stored)>;

// `{items,next,prev,tree_size,total,exact,reached}`. A page reads a bounded number of entries. If
// it reaches the bound, `reached` is the last entry that it read, and the next page continues
// there.
Result<api::Response> page_of(ledger::ReadView& view, const PageRequest& page,
                              const api::Request& request, const MakeRow& make);

// Rows of a list, and where the search for them stopped before its end.
struct Rows {
  std::vector<Row> rows{};
  std::optional<std::uint64_t> reached{};
};
// The page of rows that were already found. If the list continues, `found` holds one row more than
// the page shows.
api::Response page_of(Rows found, const PageRequest& page, const api::Request& request,
                      std::uint64_t tree_size);
// The rows that follow `from` in the list, at most `count`.
Result<Rows> rows_behind(ledger::ReadView& view, const PageRequest& page, std::uint64_t tree_size,
                         std::optional<std::uint64_t> from, bool ascending, std::size_t count,
                         const MakeRow& make, const std::function<bool()>& wanted);

}  // namespace sallyport::app
