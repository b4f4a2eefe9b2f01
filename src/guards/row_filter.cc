#include "guards/row_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "guards/redact/redaction_strategy.h"

namespace sallyport::guards {

namespace {

void mask_all(json::value& value) {
  if (json::object* const object = value.if_object()) {
    for (auto& member : *object) mask_all(member.value());
  } else if (json::array* const array = value.if_array()) {
    for (json::value& item : *array) mask_all(item);
  } else if (!value.is_null()) {
    value = kMask;
  }
}

template <class Items>
bool all_objects(const Items& items) {
  return std::ranges::all_of(items, [](const json::value& item) { return item.is_object(); });
}

bool all_strings(const json::array& items) {
  return std::ranges::all_of(items, [](const json::value& item) { return item.is_string(); });
}

bool is_mcp_result(const json::object& object) {
  const json::value* const content = object.if_contains("content");
  return (content != nullptr && content->is_array()) || object.contains("structuredContent");
}

bool is_shape(const json::value& value) {
  if (value.is_array()) return all_objects(value.get_array());
  const json::object* const object = value.if_object();
  const json::value* const rows = object == nullptr ? nullptr : object->if_contains("rows");
  return rows != nullptr && rows->is_array();
}

bool is_count(std::string_view name, const json::value& value) {
  constexpr auto kCounts = std::to_array<std::string_view>(
      {"count", "total", "rowCount", "row_count", "truncated", "hasMore", "has_more"});
  return (value.is_number() || value.is_bool()) &&
         std::ranges::find(kCounts, name) != kCounts.end();
}

bool names_tables(std::string_view name) {
  return name == "table" || name == "tables";
}

// The one table of all columns, if the result names it; else empty.
std::string table_of(const json::object& object) {
  return text_or_empty(object, "table");
}

}  // namespace

void RowFilter::filter(Envelope& envelope) {
  switch (envelope.kind) {
    case Envelope::Kind::Value:
      return filter_content(envelope.value, rows_);
    case Envelope::Kind::Stream: {
      // Chunks that are rows themselves are one array of objects.
      if (all_objects(envelope.chunks) && std::ranges::none_of(envelope.chunks, is_shape) &&
          std::ranges::none_of(envelope.chunks, [](const json::value& chunk) {
            return is_mcp_result(chunk.get_object()) ||
                   text_in(chunk.get_object(), "type") == "text";
          })) {
        json::array chunks(envelope.chunks.begin(), envelope.chunks.end());
        json::value rows = std::move(chunks);
        filter_shape(rows, rows_);
        envelope.chunks.assign(rows.get_array().begin(), rows.get_array().end());
      } else {
        for (json::value& chunk : envelope.chunks) filter_content(chunk, rows_);
      }
      if (!envelope.complete) envelope.reason = kMask;
      return;
    }
    case Envelope::Kind::Error:
      envelope.message = kMask;
      filter_content(envelope.data, rows_);
  }
}

std::string RowFilter::rows() const {
  const Count& count = std::ranges::max(rows_, structured_, {}, &Count::total);
  return count.total == 0 ? "" : fmt::format("{}/{}", count.kept, count.total);
}

void RowFilter::filter_content(json::value& value, Count& count) {
  json::object* const object = value.if_object();
  if (object != nullptr) check_tables(*object);
  if (object != nullptr && is_mcp_result(*object)) return filter_mcp(*object, count);
  if (object != nullptr && text_in(*object, "type") == "text") return filter_block(value, count);
  if (value.is_string()) return filter_text(value, count);
  if (!filter_shape(value, count)) mask_all(value);
}

void RowFilter::filter_mcp(json::object& result, Count& count) {
  for (auto& member : result) {
    const std::string_view name = member.key();
    if (name == "content" && member.value().is_array()) {
      for (json::value& block : member.value().get_array()) filter_block(block, count);
    } else if (name == "structuredContent") {
      filter_content(member.value(), structured_);
    } else if (name != "isError" || !member.value().is_bool()) {
      mask_all(member.value());
    }
  }
}

void RowFilter::filter_block(json::value& block, Count& count) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"text", "image", "audio", "resource", "resource_link"});
  json::object* const object = block.if_object();
  if (object == nullptr) return mask_all(block);
  const std::string type = text_or_empty(*object, "type");
  const bool known = std::ranges::find(kTypes, type) != kTypes.end();
  for (auto& member : *object) {
    if (member.key() == "type" && known) continue;
    if (member.key() == "text" && type == "text") {
      filter_text(member.value(), count);
    } else {
      mask_all(member.value());
    }
  }
}

void RowFilter::filter_text(json::value& text, Count& count) {
  if (!text.is_string()) return mask_all(text);
  Result<ParsedJson> parsed =
      parse_json(std::string_view(text.get_string()), {.values = count.values});
  if (!parsed || parsed->value.is_string()) return mask_all(text);
  count.values -= parsed->values;
  json::value filtered = parsed->value;
  filter_content(filtered, count);
  if (!is_shape(filtered)) return mask_all(text);
  // Unfiltered text stays as it was written.
  if (filtered == parsed->value) return;
  // The canonical form cannot hold integers that a double cannot hold.
  text = parsed->exact ? canonical_json(filtered) : json::serialize(filtered);
}

bool RowFilter::filter_shape(json::value& value, Count& count) {
  if (json::object* const object = value.if_object()) return filter_table(*object, count);
  json::array* const rows = value.if_array();
  if (rows == nullptr || !all_objects(*rows)) return false;
  // Several tables, as several statements return them. Each has rows of its own.
  if (std::ranges::any_of(*rows, is_shape)) {
    for (json::value& table : *rows) filter_content(table, count);
    return true;
  }
  drop_rows(*rows, count);
  for (json::value& row : *rows) filter_row(row, "");
  return true;
}

bool RowFilter::filter_table(json::object& table, Count& count) {
  json::value* const rows = table.if_contains("rows");
  const json::value* const columns = table.if_contains("columns");
  if (rows == nullptr || !rows->is_array()) return false;
  json::array& items = rows->get_array();
  const bool arrays =
      columns != nullptr && columns->is_array() && all_strings(columns->get_array()) &&
      std::ranges::all_of(items, [](const json::value& row) { return row.is_array(); });
  if (!arrays && (columns != nullptr || !all_objects(items))) return false;
  const std::string name = table_of(table);
  drop_rows(items, count);
  for (json::value& row : items) {
    if (arrays) {
      filter_cells(row.get_array(), columns->get_array(), name);
    } else {
      filter_row(row, name);
    }
  }
  for (auto& member : table) {
    const std::string_view key = member.key();
    const bool frame = key == "rows" || key == "columns" || names_tables(key);
    if (!frame && !is_count(key, member.value())) mask_all(member.value());
  }
  return true;
}

void RowFilter::filter_row(json::value& row, std::string_view table) const {
  if (json::array* const items = row.if_array()) {
    for (json::value& item : *items) filter_row(item, table);
  }
  json::object* const object = row.if_object();
  if (object == nullptr) return;
  for (auto& member : *object) {
    if (limits_.denies(member.key(), table)) {
      member.value() = kMask;
    } else {
      filter_row(member.value(), table);
    }
  }
  filter_inner_table(*object, table);
}

// The cells of a table inside a row, whose names are in `columns`.
void RowFilter::filter_inner_table(json::object& inner, std::string_view table) const {
  json::value* const rows = inner.if_contains("rows");
  const json::value* const columns = inner.if_contains("columns");
  if (limits_.denied_columns.empty() || rows == nullptr || columns == nullptr) return;
  if (!rows->is_array() || !columns->is_array()) return;
  const bool named = all_strings(columns->get_array());
  for (json::value& row : rows->get_array()) {
    if (named && row.is_array()) {
      filter_cells(row.get_array(), columns->get_array(), table);
    } else if (!row.is_object()) {
      mask_all(row);
    }
  }
}

void RowFilter::filter_cells(json::array& cells, const json::array& columns,
                             std::string_view table) const {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    // A cell without a name may be of any column.
    if (i >= columns.size()) {
      if (!limits_.denied_columns.empty()) cells[i] = kMask;
    } else if (limits_.denies(columns[i].get_string(), table)) {
      cells[i] = kMask;
    } else {
      filter_row(cells[i], table);
    }
  }
}

void RowFilter::drop_rows(json::array& rows, Count& count) const {
  count.total += rows.size();
  if (limits_.max_rows) {
    rows.resize(std::min<std::size_t>(rows.size(), *limits_.max_rows - count.kept));
  }
  count.kept += rows.size();
}

void RowFilter::check_tables(const json::object& object) {
  for (const std::string_view name : {"table", "tables"}) {
    if (const json::value* const tables = object.if_contains(name)) check_table(*tables);
  }
  for (const std::string_view name : {"_meta", "metadata"}) {
    const json::object* const inner = object_in(object, name);
    if (inner != nullptr) check_tables(*inner);
  }
  const json::value* const columns = object.if_contains("columns");
  if (columns == nullptr || !columns->is_array()) return;
  for (const json::value& column : columns->get_array()) {
    const json::string* const name = column.if_string();
    const std::size_t dot = name == nullptr ? json::string::npos : name->rfind('.');
    if (dot != json::string::npos) check_table(json::value(name->subview(0, dot)));
  }
}

void RowFilter::check_table(const json::value& name) {
  if (const json::array* const names = name.if_array()) {
    for (const json::value& item : *names) check_table(item);
  } else if (name.is_string() && !limits_.allows_table(name.get_string())) {
    refused_table_ = std::string(name.get_string());
  }
}

}  // namespace sallyport::guards
