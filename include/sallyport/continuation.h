// A continuation is a paused turn. A hand-off carries the calls that a client runs, and a
// submission carries their results back.
//
//   HandOff hand_off = engine->hand_out(frame, calls)->hand_off;
//   send(canonical_json(to_json(hand_off)));                  // the client runs the calls
//   Result<Submission> back = submission_from_text(body);     // at most 8 MiB, 64 levels
//   check_results(ids_of(hand_off.tool_calls), *back).error().cause;   // "missing_result"
//
// All types here are values. Readers ignore unknown members. `InvalidInput` names the member that
// is missing, has a wrong type or an unknown word. `Error::cause` is set only if the comment of a
// function says so.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/prepared.h"
#include "sallyport/result.h"
#include "sallyport/usage.h"

namespace sallyport {

// A call that is decided here and runs elsewhere, or that waits for a person (AU-53).
struct PendingCall {
  std::string id{};  // the model's id; other types name it `tool_call_id`
  std::string name{};
  std::string display_name{};
  Tier tier = Tier::Confirm;
  json::value input{};
  json::value effective_input{};
  std::optional<Prepared> listen_context{};

  bool operator==(const PendingCall&) const = default;
};

// The result of one call of a turn.
struct CallResult {
  std::string tool_call_id{};
  ToolResult result{};

  bool operator==(const CallResult&) const = default;
};

// A paused turn (AU-69).
struct Continuation {
  static constexpr std::uint64_t kVersion = 1;

  struct Payload {
    std::string session_id{};
    std::optional<std::string> run_id{};
    std::uint64_t turn = 0;
    Usage total_usage{};
    Usage turn_usage{};
    std::vector<PendingCall> pending_tool_calls{};
    std::uint64_t awaiting_index = 0;  // index into the pending calls; readers do not check it
    std::vector<CallResult> completed_results{};
    json::value state{};
    std::optional<std::string> response_id{};
    std::optional<std::string> stop_reason{};
    json::array response_content{};

    bool operator==(const Payload&) const = default;
  };

  std::uint64_t version = kVersion;
  std::string id{};
  std::string digest{};  // digest of the canonical payload; readers do not check it
  Payload payload{};

  bool operator==(const Continuation&) const = default;
};

// What the client receives: calls to run, and the continuation to send back with their results.
struct HandOff {
  std::vector<PendingCall> tool_calls{};
  Continuation continuation{};

  bool operator==(const HandOff&) const = default;
};

// What the client sends back.
struct Submission {
  Continuation continuation{};
  std::vector<CallResult> results{};

  bool operator==(const Submission&) const = default;
};

// The reply that a paused turn waited for (AU-70).
struct ResumeDecision {
  enum class Kind { Approved, Rejected, Timeout };

  Kind kind = Kind::Timeout;
  std::string reason{};  // why it was rejected

  bool operator==(const ResumeDecision&) const = default;
};

std::string_view to_string(ResumeDecision::Kind kind);

json::object to_json(const PendingCall& call);
json::object to_json(const Continuation::Payload& payload);
json::object to_json(const Continuation& continuation);
json::object to_json(const HandOff& hand_off);
json::object to_json(const Submission& submission);
json::object to_json(const ResumeDecision& decision);

Result<PendingCall> pending_call_from_json(const json::value& value, std::string where = "call");
// Reads `version` first. A version other than 1 is refused with the cause `continuation_version`,
// even if the rest is malformed. `hand_off_from_json` and `submission_from_json` do the same.
Result<Continuation> continuation_from_json(const json::value& value,
                                            std::string where = "continuation");
Result<HandOff> hand_off_from_json(const json::value& value);
Result<Submission> submission_from_json(const json::value& value);
Result<ResumeDecision> resume_decision_from_json(const json::value& value,
                                                 std::string where = "decision");

// Limits of texts from outside. A text that is longer or deeper is refused while it is parsed
// (AU-95).
inline constexpr std::size_t kContinuationBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kContinuationDepth = 64;

Result<Continuation> continuation_from_text(std::string_view text);
Result<Submission> submission_from_text(std::string_view text);

std::vector<std::string> ids_of(std::span<const PendingCall> calls);

// Checks that there is exactly one result for each call that was handed out. If not, the cause is
// `unknown_result`, `duplicate_result` or `missing_result`, and the message names the first such id
// (AU-55).
Result<void> check_results(std::span<const std::string> handed_out, const Submission& submission);

}  // namespace sallyport
