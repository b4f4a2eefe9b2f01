#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "base/digest.h"
#include "base/try.h"
#include "sessions/snapshots.h"
#include "sessions/sqlite_sessions.h"

namespace sallyport::sessions {

namespace {

using store::Connection;
using store::Query;

// The columns of an item.
struct ItemRow {
  std::uint64_t revision = 0;
  std::string_view role;
  std::string_view content;
  std::optional<std::string_view> call;
  std::string_view created_at;
};

std::string sum_of(const ItemRow& item) {
  const std::string_view end("\0", 1);
  const std::string call = item.call ? fmt::format("c{}", *item.call) : "";
  const Hash hash = sha256({std::to_string(item.revision), end, item.role, end, call, end,
                            item.created_at, end, item.content});
  constexpr std::size_t kSumBytes = 8;
  return std::string(text_of(hash).substr(0, kSumBytes));
}

constexpr const char* kItems =
    "SELECT position, revision, role, content, call, created_at, sum FROM items WHERE session = ? "
    "ORDER BY position";

// The item in the current row of `kItems`. Valid until the next step.
Result<ItemRow> item_row(const Query& row, std::uint64_t expected) {
  ItemRow item{.revision = static_cast<std::uint64_t>(row.number(1)),
               .role = row.bytes(2),
               .content = row.bytes(3),
               .call = std::nullopt,
               .created_at = row.bytes(5)};
  if (!row.is_null(4)) item.call = row.bytes(4);
  if (static_cast<std::uint64_t>(row.number(0)) == expected && row.bytes(6) == sum_of(item)) {
    return item;
  }
  return fail(ErrorCode::Corrupt,
              fmt::format("item {} of a transcript is not what was written", expected), {},
              "corrupt");
}

// The item as an RT-8 line, with the content of the row unchanged.
std::string line_of(std::uint64_t index, const ItemRow& item) {
  const auto quoted = [](std::string_view text) { return json::serialize(json::value(text)); };
  return fmt::format(
      R"({{"index":{},"revision":{},"role":{},"content":{},"tool_call_id":{},"created_at":{}}})",
      index, item.revision, quoted(item.role), item.content,
      item.call ? quoted(*item.call) : "null", quoted(item.created_at));
}

Result<std::string> content_of(const NewItem& item) {
  SALLYPORT_CHECK_OK(check_json(item.content));
  if (item.tool_call_id && !is_utf8(*item.tool_call_id)) {
    return fail(ErrorCode::InvalidInput, "the id of a tool call is not UTF-8");
  }
  std::string content = json::serialize(item.content);
  const std::size_t size = content.size() + (item.tool_call_id ? item.tool_call_id->size() : 0);
  if (size <= kItemBytes) return content;
  return fail(
      ErrorCode::Exhausted,
      fmt::format("an item of a transcript has {} bytes, {} are allowed", size, kItemBytes));
}

struct Extent {
  std::uint64_t revision = 0;
  std::uint64_t bytes = 0;
  std::uint64_t items = 0;
};

Result<Extent> extent_of(Connection& connection, const std::string& session_id) {
  Query query = connection.query(
      "SELECT revision, bytes, (SELECT COALESCE(MAX(position) + 1, 0) FROM items WHERE session = "
      "id) FROM sessions WHERE id = ?");
  SALLYPORT_TRY(const bool row, query.bind_text(session_id).step());
  if (!row) return fail(ErrorCode::NotFound, fmt::format("there is no session `{}`", session_id));
  return Extent{.revision = static_cast<std::uint64_t>(query.number(0)),
                .bytes = static_cast<std::uint64_t>(query.number(1)),
                .items = static_cast<std::uint64_t>(query.number(2))};
}

Result<void> insert(Connection& connection, const std::string& session_id, std::uint64_t position,
                    const ItemRow& item) {
  Query query = connection.query(
      "INSERT INTO items (session, position, revision, role, content, call, created_at, sum) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  query.bind_text(session_id).bind(position).bind(item.revision).bind_text(item.role);
  query.bind_text(item.content);
  if (item.call) {
    query.bind_text(*item.call);
  } else {
    query.bind_null();
  }
  const std::string sum = sum_of(item);
  return query.bind_text(item.created_at).bind_blob(sum).run();
}

Result<void> mark_noticed(Connection& connection, const std::string& session_id,
                          std::span<const std::string> noticed) {
  for (const std::string& task_id : noticed) {
    SALLYPORT_CHECK_OK(connection
                           .query("UPDATE tasks SET noticed = 1 WHERE id = ? AND session = ? AND "
                                  "noticed = 0 AND status != 'running'")
                           .bind_text(task_id)
                           .bind_text(session_id)
                           .run());
    if (connection.changes() == 1) continue;
    return fail(ErrorCode::Conflict,
                fmt::format("the task `{}` has no notice that is still to be given", task_id), {},
                "already_told");
  }
  return {};
}

// `all`: the number of items.
Result<std::uint64_t> leading_system_items(Connection& connection, const std::string& session_id,
                                           std::uint64_t all) {
  Query query =
      connection.query("SELECT MIN(position) FROM items WHERE session = ? AND role != 'system'");
  SALLYPORT_TRY([[maybe_unused]] const bool row, query.bind_text(session_id).step());
  return query.is_null(0) ? all : static_cast<std::uint64_t>(query.number(0));
}

// Removes rows [first, last) and moves the later ones to `first` + 1.
Result<void> make_room(Connection& connection, const std::string& session_id, std::uint64_t first,
                       std::uint64_t last) {
  SALLYPORT_CHECK_OK(
      connection.query("DELETE FROM items WHERE session = ? AND position >= ? AND position < ?")
          .bind_text(session_id)
          .bind(first)
          .bind(last)
          .run());
  const std::uint64_t shift = last - first - 1;
  if (shift == 0) return {};
  // Uses negative numbers, because no two rows may have the same position in between.
  SALLYPORT_CHECK_OK(
      connection
          .query("UPDATE items SET position = ? - position WHERE session = ? AND position >= ?")
          .bind(shift)
          .bind_text(session_id)
          .bind(last)
          .run());
  return connection
      .query("UPDATE items SET position = -position WHERE session = ? AND position < 0")
      .bind_text(session_id)
      .run();
}

}  // namespace

Result<std::uint64_t> SqliteSessions::append(const Lease& lease, std::span<const NewItem> items,
                                             std::span<const std::string> noticed) {
  std::vector<std::string> contents;
  for (const NewItem& item : items) {
    SALLYPORT_TRY(contents.emplace_back(), content_of(item));
  }
  std::uint64_t revision = 0;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    SALLYPORT_TRY(Extent extent, extent_of(connection, lease.session_id));
    const std::string moment = now();
    for (std::size_t i = 0; i < items.size(); ++i) {
      ItemRow row{.revision = ++extent.revision,
                  .role = to_string(items[i].role),
                  .content = contents[i],
                  .call = items[i].tool_call_id,
                  .created_at = moment};
      SALLYPORT_CHECK_OK(insert(connection, lease.session_id, extent.items++, row));
      extent.bytes += contents[i].size();
    }
    if (extent.items > kTranscriptItems || extent.bytes > kTranscriptBytes) {
      return fail(ErrorCode::Exhausted,
                  fmt::format("the transcript of the session `{}` is full; begin a new session",
                              lease.session_id),
                  {}, "transcript_full");
    }
    SALLYPORT_CHECK_OK(mark_noticed(connection, lease.session_id, noticed));
    revision = extent.revision;
    return connection
        .query("UPDATE sessions SET revision = ?, bytes = ?, updated_at = ? WHERE id = ?")
        .bind(extent.revision)
        .bind(extent.bytes)
        .bind_text(moment)
        .bind_text(lease.session_id)
        .run();
  }));
  return revision;
}

Result<std::vector<Item>> SqliteSessions::items(const std::string& session_id) {
  std::vector<Item> found;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(kItems);
    query.bind_text(session_id);
    while (true) {
      SALLYPORT_TRY(const bool row, query.step());
      if (!row) return {};
      SALLYPORT_TRY(const ItemRow item, item_row(query, found.size()));
      const std::optional<Role> role = role_from(item.role);
      const Result<ParsedJson> content =
          parse_json(item.content, {.bytes = kItemBytes, .values = kItemBytes});
      if (!role || !content || !content->value.is_array()) {
        return fail(ErrorCode::Corrupt,
                    fmt::format("item {} of a transcript cannot be read", found.size()), {},
                    "corrupt");
      }
      Item& read = found.emplace_back();
      read.index = found.size() - 1;
      read.revision = item.revision;
      read.role = *role;
      read.content = content->value.get_array();
      if (item.call) read.tool_call_id = std::string(*item.call);
      read.created_at = item.created_at;
    }
  }));
  return found;
}

Result<void> SqliteSessions::lines(const std::string& session_id, const OnLine& on_line) {
  return database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(kItems);
    query.bind_text(session_id);
    for (std::uint64_t index = 0;; ++index) {
      SALLYPORT_TRY(const bool row, query.step());
      if (!row) return {};
      SALLYPORT_TRY(const ItemRow item, item_row(query, index));
      SALLYPORT_CHECK_OK(on_line(line_of(index, item)));
    }
  });
}

Result<std::string> SqliteSessions::whole_transcript(const Lease& lease, std::uint64_t& revision) {
  std::string text;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    SALLYPORT_TRY(const Extent extent, extent_of(connection, lease.session_id));
    revision = extent.revision;
    text.reserve(extent.bytes + extent.items * 160);
    Query query = connection.query(kItems);
    query.bind_text(lease.session_id);
    for (std::uint64_t index = 0;; ++index) {
      SALLYPORT_TRY(const bool row, query.step());
      if (!row) return {};
      SALLYPORT_TRY(const ItemRow item, item_row(query, index));
      text += line_of(index, item);
      text += '\n';
    }
  }));
  return text;
}

Result<std::string> SqliteSessions::snapshot(const Lease& lease,
                                             const std::filesystem::path& folder) {
  std::uint64_t revision = 0;
  SALLYPORT_TRY(const std::string text, whole_transcript(lease, revision));
  return write_snapshot(folder, lease.session_id, revision, text);
}

Result<std::size_t> SqliteSessions::prune_snapshots(const Lease& lease,
                                                    const std::filesystem::path& folder,
                                                    std::size_t keep) {
  std::uint64_t applied = 0;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    Query query = connection.query("SELECT compacted_from FROM sessions WHERE id = ?");
    SALLYPORT_TRY([[maybe_unused]] const bool row, query.bind_text(lease.session_id).step());
    applied = static_cast<std::uint64_t>(query.number(0));
    return {};
  }));
  return remove_snapshots(folder, lease.session_id, keep, applied);
}

Result<bool> SqliteSessions::compact(const Lease& lease, std::uint64_t base_revision,
                                     std::size_t replaced, const NewItem& summary,
                                     std::size_t& length) {
  SALLYPORT_TRY(const std::string content, content_of(summary));
  bool applied = false;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    SALLYPORT_TRY(const Extent extent, extent_of(connection, lease.session_id));
    if (extent.revision != base_revision) return {};
    SALLYPORT_TRY(const std::uint64_t first,
                  leading_system_items(connection, lease.session_id, extent.items));
    if (replaced <= first || replaced > extent.items) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} of {} items cannot be replaced", replaced, extent.items));
    }
    SALLYPORT_CHECK_OK(make_room(connection, lease.session_id, first, replaced));
    const std::string moment = now();
    const ItemRow row{.revision = base_revision + 1,
                      .role = to_string(summary.role),
                      .content = content,
                      .call = summary.tool_call_id,
                      .created_at = moment};
    SALLYPORT_CHECK_OK(insert(connection, lease.session_id, first, row));
    SALLYPORT_CHECK_OK(
        connection
            .query("UPDATE sessions SET revision = ?1, compacted_from = ?2, updated_at = ?3, bytes "
                   "= (SELECT SUM(length(CAST(content AS BLOB))) FROM items WHERE session = ?4) "
                   "WHERE id = ?4")
            .bind(base_revision + 1)
            .bind(base_revision)
            .bind_text(moment)
            .bind_text(lease.session_id)
            .run());
    length = extent.items - (replaced - first) + 1;
    applied = true;
    return {};
  }));
  return applied;
}

}  // namespace sallyport::sessions
