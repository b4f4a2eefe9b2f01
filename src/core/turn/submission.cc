// The JSON of a hand-off and of the results that a host submits for it.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/try.h"
#include "core/record/shape_fields.h"
#include "sallyport/continuation.h"

namespace sallyport {

namespace {

json::object to_json(const CallResult& each) {
  return {{"tool_call_id", each.tool_call_id}, {"result", to_json(each.result)}};
}

Result<CallResult> call_result_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  CallResult each{.tool_call_id = in.text("tool_call_id"),
                  .result = core::shape_in(in, "result", tool_result_from_json)};
  return core::finished(in, std::move(each));
}

Result<json::value> parse_within_limits(std::string_view text, std::string_view what) {
  Result<ParsedJson> parsed =
      parse_json(text, {.bytes = kContinuationBytes, .depth = kContinuationDepth});
  if (parsed) return std::move(parsed->value);
  Error error = std::move(parsed).error();
  error.message = fmt::format("{}: {}", what, error.message);
  return std::unexpected(std::move(error));
}

std::unexpected<Error> wrong_results(std::string_view id, std::string_view what,
                                     std::string cause) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("`{}` {}, submit exactly one result for each call handed out", id, what),
              "results", std::move(cause));
}

}  // namespace

json::object to_json(const HandOff& hand_off) {
  return {{"tool_calls", core::array_of(hand_off.tool_calls)},
          {"continuation", to_json(hand_off.continuation)}};
}

Result<HandOff> hand_off_from_json(const json::value& value) {
  ObjectReader in(value);
  HandOff hand_off{.tool_calls = core::shapes_in(in, "tool_calls", pending_call_from_json),
                   .continuation = core::shape_in(in, "continuation", continuation_from_json)};
  return core::finished(in, std::move(hand_off));
}

json::object to_json(const Submission& submission) {
  json::array results;
  for (const CallResult& each : submission.results) results.push_back(to_json(each));
  return {{"continuation", to_json(submission.continuation)}, {"results", std::move(results)}};
}

Result<Submission> submission_from_json(const json::value& value) {
  ObjectReader in(value);
  Submission submission{.continuation = core::shape_in(in, "continuation", continuation_from_json),
                        .results = core::shapes_in(in, "results", call_result_from_json)};
  return core::finished(in, std::move(submission));
}

Result<Continuation> continuation_from_text(std::string_view text) {
  SALLYPORT_TRY(const json::value value, parse_within_limits(text, "continuation"));
  return continuation_from_json(value);
}

Result<Submission> submission_from_text(std::string_view text) {
  SALLYPORT_TRY(const json::value value, parse_within_limits(text, "submission"));
  return submission_from_json(value);
}

std::vector<std::string> ids_of(std::span<const PendingCall> calls) {
  std::vector<std::string> ids;
  for (const PendingCall& call : calls) ids.push_back(call.id);
  return ids;
}

Result<void> check_results(std::span<const std::string> handed_out, const Submission& submission) {
  const std::set<std::string_view> wanted(handed_out.begin(), handed_out.end());
  std::set<std::string_view> seen;
  for (const CallResult& each : submission.results) {
    if (!wanted.contains(each.tool_call_id)) {
      return wrong_results(each.tool_call_id, "was not handed out", "unknown_result");
    }
    if (!seen.insert(each.tool_call_id).second) {
      return wrong_results(each.tool_call_id, "has two results", "duplicate_result");
    }
  }
  for (const std::string& id : handed_out) {
    if (!seen.contains(id)) return wrong_results(id, "has no result", "missing_result");
  }
  return {};
}

}  // namespace sallyport
