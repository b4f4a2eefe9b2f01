#include "daemon/api/listed.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/cursor.h"
#include "api/schema.h"
#include "base/try.h"
#include "ledger/read/look_at.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kUsual = 50;
constexpr std::size_t kMostRows = 500;

std::string name_of(std::string_view list, std::uint64_t tree_size) {
  return fmt::format("{}/{}", list, tree_size);
}

// The rows that the page before was cut from.
Result<api::Snapshots::Rows> rows_at(const api::Request& request, const std::string& name,
                                     const api::Snapshots::Rows& made, bool same_size) {
  if (api::Snapshots::Rows kept = request.lists->find(name)) return kept;
  if (same_size) return made;
  return fail(ErrorCode::InvalidInput,
              "the list that this page belongs to is no longer kept; begin without a cursor",
              "cursor", "bad_cursor");
}

}  // namespace

Result<api::Response> listed(const api::Request& request, std::string_view list,
                             std::uint64_t tree_size, json::array made) {
  SALLYPORT_TRY(const auto asked, request.query.number("limit", 1, kMostRows));
  const std::size_t limit = asked ? static_cast<std::size_t>(*asked) : kUsual;
  auto kept = std::make_shared<const json::array>(std::move(made));
  std::size_t begin = 0;
  if (const auto text = request.query.get("cursor")) {
    SALLYPORT_TRY(const api::Cursor cursor, api::Cursor::parse(*text, list, request.query));
    SALLYPORT_TRY(kept, rows_at(request, name_of(list, cursor.tree_size), kept,
                                cursor.tree_size == tree_size));
    tree_size = cursor.tree_size;
    begin = static_cast<std::size_t>(std::min<std::uint64_t>(cursor.position, kept->size()));
  }
  const json::array& rows = *kept;
  const std::size_t end = std::min(begin + limit, rows.size());
  const auto cursor_at = [&](std::size_t position, bool back) {
    return api::Cursor{position, tree_size, back}.text(list, request.query);
  };
  json::object body{{"items", json::array()}, {"next", nullptr}, {"prev", nullptr}};
  json::array& items = body["items"].get_array();
  for (std::size_t i = begin; i < end; ++i) items.push_back(rows[i]);
  if (end < rows.size()) body["next"] = cursor_at(end, false);
  if (rows.size() > limit) request.lists->keep(name_of(list, tree_size), kept);
  if (begin > 0) body["prev"] = cursor_at(begin > limit ? begin - limit : 0, true);
  body["tree_size"] = tree_size;
  body["total"] = rows.size();
  body["exact"] = true;
  return api::Response{.body = std::move(body)};
}

api::Response whole_list(json::array items) {
  const std::size_t total = items.size();
  return {.body = json::object{{"items", std::move(items)},
                               {"next", nullptr},
                               {"prev", nullptr},
                               {"tree_size", 0},
                               {"total", total},
                               {"exact", true}}};
}

std::vector<api::Parameter> list_parameters() {
  return {{"limit", "1 to 500 [50]", api::schema::number()},
          {"cursor", "cursor of another page", api::schema::text()}};
}

bool may_read_controls(const api::Person& person) {
  return person.reads_sealed() || person.roles.has(api::Role::Controller);
}

api::Read on_log(ledger::Ledger& ledger, LookAtLog look) {
  return [&ledger, look = std::move(look)](const api::Request& request) -> Result<api::Response> {
    return ledger::look_at(ledger.store(),
                           [&](ledger::ReadView& view) { return look(view, request); });
  };
}

api::Act on_readers(api::Readers& readers, LongWork work) {
  return [&readers, work = std::move(work)](api::Request request) -> Task<api::Response> {
    std::function<Result<api::Response>(const api::Readers::Wanted&)> run =
        [work, request = std::move(request)](const api::Readers::Wanted&) { return work(request); };
    co_return co_await readers.run<api::Response>(std::move(run));
  };
}

}  // namespace sallyport::app
