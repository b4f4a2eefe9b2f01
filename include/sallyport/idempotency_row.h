// An idempotency row remembers a call so that a repetition does not run the call again (AU-44).
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

// A value. There is one row for each pair of session and tool call id.
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
  std::optional<std::string> operation_id{};  // set for a prepared tool
  std::string started_at{};                   // RFC 3339 in UTC, `Z` and microseconds
  std::optional<std::string> completed_at{};

  bool operator==(const IdempotencyRow&) const = default;
};

std::string_view to_string(IdempotencyRow::Status status);

json::object to_json(const IdempotencyRow& row);

// Reads `thread_id` as `session_id` if `session_id` is absent. Unknown members are ignored.
// `InvalidInput` names the member that is missing, has a wrong type or an unknown word.
Result<IdempotencyRow> idempotency_row_from_json(const json::value& value,
                                                 std::string where = "row");

}  // namespace sallyport
