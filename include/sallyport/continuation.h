// A turn that waits, the calls it handed out, and what comes back for them.
//
//   HandOff hand_off = engine->hand_out(frame, calls)->hand_off;
//   send(canonical_json(to_json(hand_off)));                  // the client runs the calls
//   Result<Submission> back = submission_from_text(body);     // at most 8 MiB, 64 levels
//   check_results(ids_of(hand_off.tool_calls), *back).error().cause;   // "missing_result"
//
// Readers ignore unknown members. `InvalidInput` names the member that is missing, of another type
// or not a known word; `Error::cause` is set only where a function below says so.
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

// A call that was decided here and is executed elsewhere, or waits for a person (AU-53).
struct PendingCall {
  std::string id{};  // the model's: `tool_call_id` everywhere else
  std::string name{};
  std::string display_name{};
  Tier tier = Tier::Confirm;
  json::value input{};
  json::value effective_input{};
  std::optional<Prepared> listen_context{};

  bool operator==(const PendingCall&) const = default;
};

// What came of one call of a turn.
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
    std::uint64_t awaiting_index = 0;  // into the pending calls; not checked by the reader
    std::vector<CallResult> completed_results{};
    json::value state{};
    std::optional<std::string> response_id{};
    std::optional<std::string> stop_reason{};
    json::array response_content{};

    bool operator==(const Payload&) const = default;
  };

  std::uint64_t version = kVersion;
  std::string id{};
  std::string digest{};  // of the canonical payload; not checked by the reader
  Payload payload{};

  bool operator==(const Continuation&) const = default;
};

struct HandOff {
  std::vector<PendingCall> tool_calls{};
  Continuation continuation{};

  bool operator==(const HandOff&) const = default;
};

struct Submission {
  Continuation continuation{};
  std::vector<CallResult> results{};

  bool operator==(const Submission&) const = default;
};

// What the answered approval says to a paused turn (AU-70).
struct ResumeDecision {
  enum class Kind { Approved, Rejected, Timeout };

  Kind kind = Kind::Timeout;
  std::string reason{};  // of a rejection

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
// Reads `version` first; one that is not 1 is refused with the cause `continuation_version`,
// whatever the rest looks like. So do the two readers that hold a continuation.
Result<Continuation> continuation_from_json(const json::value& value,
                                            std::string where = "continuation");
Result<HandOff> hand_off_from_json(const json::value& value);
Result<Submission> submission_from_json(const json::value& value);
Result<ResumeDecision> resume_decision_from_json(const json::value& value,
                                                 std::string where = "decision");

// What comes from outside as text: longer or deeper is refused before it is parsed further (AU-95).
inline constexpr std::size_t kContinuationBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kContinuationDepth = 64;

Result<Continuation> continuation_from_text(std::string_view text);
Result<Submission> submission_from_text(std::string_view text);

std::vector<std::string> ids_of(std::span<const PendingCall> calls);

// Is there exactly one result for each call handed out (AU-55)? If not, the cause is
// `unknown_result`, `duplicate_result` or `missing_result`, and the message has the first such id.
Result<void> check_results(std::span<const std::string> handed_out, const Submission& submission);

}  // namespace sallyport
