#include "sallyport/continuation.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "core/record/shape_fields.h"

namespace sallyport {

namespace {

json::array pairs_of(const std::vector<CallResult>& results) {
  json::array pairs;
  for (const CallResult& each : results) {
    pairs.push_back(json::array{each.tool_call_id, to_json(each.result)});
  }
  return pairs;
}

Result<CallResult> pair_from_json(const json::value& value, std::string where) {
  const json::array* const pair = value.if_array();
  if (pair == nullptr || pair->size() != 2 || !pair->front().is_string()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` must be an array of a tool call id and its result", where),
                where);
  }
  SALLYPORT_TRY(ToolResult result, tool_result_from_json(pair->back(), where + "[1]"));
  return CallResult{std::string(pair->front().get_string()), std::move(result)};
}

Result<Continuation::Payload> payload_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  Continuation::Payload payload{
      .session_id = in.text("session_id"),
      .run_id = in.optional_text("run_id"),
      .turn = in.number("turn"),
      .total_usage = core::shape_in(in, "total_usage", usage_from_json),
      .turn_usage = core::shape_in(in, "turn_usage", usage_from_json),
      .pending_tool_calls = core::shapes_in(in, "pending_tool_calls", pending_call_from_json),
      .awaiting_index = in.number("awaiting_index"),
      .completed_results = core::shapes_in(in, "completed_results", pair_from_json),
      .state = in.any("state"),
      .response_id = in.optional_text("response_id"),
      .stop_reason = in.optional_text("stop_reason")};
  if (in.has("response_content")) payload.response_content = in.array("response_content");
  return core::finished(in, std::move(payload));
}

// Read first: the meaning of the fields of another version is unknown.
Result<void> check_version(const json::value& continuation, const std::string& where) {
  ObjectReader in(continuation, where);
  if (!in.ok()) return std::unexpected(in.error());
  const std::uint64_t version = in.number("version");
  if (version != Continuation::kVersion) {
    in.refuse("version", fmt::format("is {}, only {} is known", version, Continuation::kVersion));
  }
  if (in.ok()) return {};
  Error error = in.error();
  error.cause = "continuation_version";
  return std::unexpected(std::move(error));
}

}  // namespace

json::object to_json(const PendingCall& call) {
  json::object object{{"id", call.id},
                      {"name", call.name},
                      {"display_name", call.display_name},
                      {"tier", to_string(call.tier)},
                      {"input", call.input},
                      {"effective_input", call.effective_input}};
  if (call.listen_context) object["listen_context"] = to_json(*call.listen_context);
  return object;
}

Result<PendingCall> pending_call_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  PendingCall call{
      .id = in.text("id"),
      .name = in.text("name"),
      .display_name = in.text("display_name"),
      .tier = core::tier_in(in, "tier"),
      .input = in.any("input"),
      .effective_input = in.any("effective_input"),
      .listen_context = core::optional_shape_in(in, "listen_context", prepared_from_json)};
  return core::finished(in, std::move(call));
}

json::object to_json(const Continuation::Payload& payload) {
  json::object object{{"session_id", payload.session_id},
                      {"run_id", core::or_null(payload.run_id)},
                      {"turn", payload.turn},
                      {"total_usage", to_json(payload.total_usage)},
                      {"turn_usage", to_json(payload.turn_usage)},
                      {"pending_tool_calls", core::array_of(payload.pending_tool_calls)},
                      {"awaiting_index", payload.awaiting_index},
                      {"completed_results", pairs_of(payload.completed_results)},
                      {"state", payload.state}};
  if (payload.response_id) object["response_id"] = *payload.response_id;
  if (payload.stop_reason) object["stop_reason"] = *payload.stop_reason;
  if (!payload.response_content.empty()) object["response_content"] = payload.response_content;
  return object;
}

json::object to_json(const Continuation& continuation) {
  return {{"version", continuation.version},
          {"id", continuation.id},
          {"digest", continuation.digest},
          {"payload", to_json(continuation.payload)}};
}

Result<Continuation> continuation_from_json(const json::value& value, std::string where) {
  SALLYPORT_CHECK_OK(check_version(value, where));
  ObjectReader in(value, std::move(where));
  Continuation continuation{.version = in.number("version"),
                            .id = in.text("id"),
                            .digest = in.text("digest"),
                            .payload = core::shape_in(in, "payload", payload_from_json)};
  return core::finished(in, std::move(continuation));
}

std::string_view to_string(ResumeDecision::Kind kind) {
  switch (kind) {
    case ResumeDecision::Kind::Approved:
      return "approved";
    case ResumeDecision::Kind::Rejected:
      return "rejected";
    case ResumeDecision::Kind::Timeout:
      return "timeout";
  }
  return "timeout";
}

json::object to_json(const ResumeDecision& decision) {
  json::object object{{"kind", to_string(decision.kind)}};
  if (decision.kind == ResumeDecision::Kind::Rejected) object["reason"] = decision.reason;
  return object;
}

Result<ResumeDecision> resume_decision_from_json(const json::value& value, std::string where) {
  using enum ResumeDecision::Kind;
  ObjectReader in(value, std::move(where));
  const std::string word = in.word("kind", {"approved", "rejected", "timeout"});
  ResumeDecision decision{.kind = word == "approved"   ? Approved
                                  : word == "rejected" ? Rejected
                                                       : Timeout};
  if (decision.kind == Rejected) decision.reason = in.text("reason");
  return core::finished(in, std::move(decision));
}

}  // namespace sallyport
