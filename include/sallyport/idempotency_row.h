// What is kept of a call so that presenting it again does not run it again (AU-44).
//
//   IdempotencyRow row{.session_id = "s-1", .tool_call_id = "toolu_01", .tool_name = "transfer"};
//   row.status = IdempotencyRow::Status::Completed;
//   to_json(row).at("status");   // "Completed"
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/call.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// One per session and tool call id.
struct IdempotencyRow {
  enum class Status { InFlight, Completed };

  std::string session_id{};
  std::string tool_call_id{};
  std::string call_id{};
  std::string request_digest{};
  std::string tool_name{};
  std::string display_name{};
  json::value input{};
  Status status = Status::InFlight;
  std::optional<ToolResult> result{};
  std::optional<std::string> operation_id{};  // of a prepared tool
  std::string started_at{};                   // RFC 3339 in UTC, `Z` and microseconds
  std::optional<std::string> completed_at{};

  bool operator==(const IdempotencyRow&) const = default;
};

std::string_view to_string(IdempotencyRow::Status status);

json::object to_json(const IdempotencyRow& row);

// `thread_id` is read as `session_id` where that is absent; unknown members are ignored.
// `InvalidInput` names the member that is missing, of another type or not a known word.
Result<IdempotencyRow> idempotency_row_from_json(const json::value& value,
                                                 std::string where = "row");

}  // namespace sallyport
