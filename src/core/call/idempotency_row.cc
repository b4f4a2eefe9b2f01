#include "sallyport/idempotency_row.h"

#include <boost/json.hpp>

#include "core/record/shape_fields.h"

namespace sallyport {

namespace {

IdempotencyRow::Status status_in(ObjectReader& in) {
  return in.word("status", {"InFlight", "Completed"}) == "Completed"
             ? IdempotencyRow::Status::Completed
             : IdempotencyRow::Status::InFlight;
}

}  // namespace

std::string_view to_string(IdempotencyRow::Status status) {
  return status == IdempotencyRow::Status::Completed ? "Completed" : "InFlight";
}

json::object to_json(const IdempotencyRow& row) {
  return {{"session_id", row.session_id},
          {"tool_call_id", row.tool_call_id},
          {"call_id", row.call_id},
          {"request_digest", row.request_digest},
          {"tool_name", row.tool_name},
          {"display_name", row.display_name},
          {"input", row.input},
          {"status", to_string(row.status)},
          {"result", core::shape_or_null(row.result)},
          {"operation_id", core::or_null(row.operation_id)},
          {"started_at", row.started_at},
          {"completed_at", core::or_null(row.completed_at)}};
}

Result<IdempotencyRow> idempotency_row_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  const bool by_thread = !in.has("session_id") && in.has("thread_id");
  IdempotencyRow row{.session_id = in.text(by_thread ? "thread_id" : "session_id"),
                     .tool_call_id = in.text("tool_call_id"),
                     .call_id = in.text("call_id"),
                     .request_digest = in.text("request_digest"),
                     .tool_name = in.text("tool_name"),
                     .display_name = in.text("display_name"),
                     .input = in.any("input"),
                     .status = status_in(in),
                     .result = core::optional_shape_in(in, "result", tool_result_from_json),
                     .operation_id = in.optional_text("operation_id"),
                     .started_at = core::utc_time_in(in, "started_at"),
                     .completed_at = core::optional_utc_time_in(in, "completed_at")};
  return core::finished(in, std::move(row));
}

}  // namespace sallyport
