// Events report what an agent did, one transition at a time. There are 22 kinds; each is a struct.
//
//   Event event = event::ModelRequestStarted{.agent_id = "agent:a", .model = "m", .attempt = 1};
//   event_type(event);   // "model_request_started"
//   scope(event);        // "agent:a"
//   announces(event);    // true: nothing is sent before this is written
//   to_json(event);      // {"kind":"model_request_started","agent_id":"agent:a",...}
//   event_from_json(to_json(event)).value() == event;
//
// `agent_id` is the authenticated principal, never a name that a model or a tool gave. The row
// around an event says to which session, call, run and policy it belongs; the event does not.
// Redact a text before you put it into an event. The engine cuts long texts, and redaction does not
// recognise half a secret.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "sallyport/json.h"
#include "sallyport/preview.h"
#include "sallyport/result.h"
#include "sallyport/usage.h"

namespace sallyport {

namespace event {

enum class DeniedAction {
  FrontAdmission,
  ReadFile,
  ListFiles,
  SearchFiles,
  WriteFile,
  EditFile,
  Shell,
  BackgroundStart,
  BackgroundLimit,
};
enum class Authorization { Allow, Prompt, Deny };
enum class TaskStatus { Finished, Failed, Interrupted };

struct AuthorizationDenied {
  std::string agent_id{};
  DeniedAction action = DeniedAction::FrontAdmission;
  std::string detail{};
  bool operator==(const AuthorizationDenied&) const = default;
};

struct ToolAuthorizationStarted {
  std::string agent_id{};
  std::string tool_name{};
  std::string tool_call_id{};
  Preview preview{};
  bool operator==(const ToolAuthorizationStarted&) const = default;
};

struct ToolAuthorizationFinished {
  std::string agent_id{};
  std::string tool_name{};
  std::string tool_call_id{};
  Authorization outcome = Authorization::Deny;
  std::optional<std::string> reason{};
  bool operator==(const ToolAuthorizationFinished&) const = default;
};

struct ToolAuthorizationBlocked {
  std::string agent_id{};
  std::string tool_name{};
  std::string tool_call_id{};
  Authorization outcome = Authorization::Deny;  // never `Allow`
  std::optional<std::string> reason{};
  bool operator==(const ToolAuthorizationBlocked&) const = default;
};

struct RecoveryPrepared {
  std::string runtime_instance_id{};
  bool operator==(const RecoveryPrepared&) const = default;
};

struct ModelRequestStarted {
  std::string agent_id{};
  std::string model{};
  std::uint64_t attempt = 1;
  bool operator==(const ModelRequestStarted&) const = default;
};

struct ModelRequestFinished {
  std::string agent_id{};
  std::string model{};
  std::uint64_t attempt = 1;
  bool success = false;  // a 2xx response was opened
  std::optional<std::string> error{};
  bool operator==(const ModelRequestFinished&) const = default;
};

struct ModelResponseFinished {
  std::string agent_id{};
  std::string model{};
  std::uint64_t attempt = 1;
  bool success = false;
  std::optional<std::string> error{};
  std::optional<std::string> stop_reason{};  // the provider's word; only with `success`
  std::optional<Usage> usage{};              // the last one reported, also without `success`
  bool operator==(const ModelResponseFinished&) const = default;
};

struct ToolExecutionStarted {
  std::string agent_id{};
  std::string tool_name{};
  std::string tool_call_id{};
  bool operator==(const ToolExecutionStarted&) const = default;
};

struct ToolExecutionFinished {
  std::string agent_id{};
  std::string tool_name{};
  std::string tool_call_id{};
  bool is_error = false;
  std::optional<std::string> error{};  // only with `is_error`
  std::string output_preview{};        // at most 4,096 bytes are written
  json::value details{};
  bool operator==(const ToolExecutionFinished&) const = default;
};

struct ToolExecutionBlocked {
  std::string agent_id{};
  std::string tool_name{};
  std::string tool_call_id{};
  std::string reason{};
  bool operator==(const ToolExecutionBlocked&) const = default;
};

struct PolicyDenied {
  std::string agent_id{};
  std::string tool_name{};  // `model:<model>` for a model request or stream
  std::string reason{};
  bool operator==(const PolicyDenied&) const = default;
};

struct BackgroundTaskStarted {
  std::string agent_id{};
  std::string task_id{};
  std::string command{};
  std::string cwd{};
  bool operator==(const BackgroundTaskStarted&) const = default;
};

struct BackgroundTaskFinished {
  std::string agent_id{};
  std::string task_id{};
  TaskStatus status = TaskStatus::Failed;
  bool operator==(const BackgroundTaskFinished&) const = default;
};

struct MemorySearchStarted {
  std::string agent_id{};
  std::uint64_t limit = 0;
  std::string query_preview{};  // at most 120 code points are written
  bool operator==(const MemorySearchStarted&) const = default;
};

struct MemorySearchFinished {
  std::string agent_id{};
  bool success = false;
  std::uint64_t result_count = 0;
  std::optional<std::string> error{};
  bool operator==(const MemorySearchFinished&) const = default;
};

struct MemoryIngestStarted {
  std::string agent_id{};
  std::uint64_t source_revision = 0;
  bool operator==(const MemoryIngestStarted&) const = default;
};

struct MemoryIngestFinished {
  std::string agent_id{};
  std::uint64_t source_revision = 0;
  bool success = false;
  std::uint64_t stored_records = 0;
  std::optional<std::string> error{};
  bool operator==(const MemoryIngestFinished&) const = default;
};

struct MemoryCompactionProposed {
  std::string agent_id{};
  std::uint64_t base_revision = 0;
  std::string transcript_path{};  // relative to the data directory
  bool operator==(const MemoryCompactionProposed&) const = default;
};

struct MemoryCompactionApplied {
  std::string agent_id{};
  std::uint64_t base_revision = 0;
  std::uint64_t resulting_history_len = 0;
  bool operator==(const MemoryCompactionApplied&) const = default;
};

struct MemoryCompactionSkipped {
  std::string agent_id{};
  std::uint64_t base_revision = 0;
  bool operator==(const MemoryCompactionSkipped&) const = default;
};

struct RunAborted {
  std::string agent_id{};
  std::string reason{};  // begins with one of eight words, see docs/events.md
  bool operator==(const RunAborted&) const = default;
};

}  // namespace event

using Event = std::variant<
    event::AuthorizationDenied, event::ToolAuthorizationStarted, event::ToolAuthorizationFinished,
    event::ToolAuthorizationBlocked, event::RecoveryPrepared, event::ModelRequestStarted,
    event::ModelRequestFinished, event::ModelResponseFinished, event::ToolExecutionStarted,
    event::ToolExecutionFinished, event::PolicyDenied, event::BackgroundTaskStarted,
    event::BackgroundTaskFinished, event::MemorySearchStarted, event::MemorySearchFinished,
    event::MemoryIngestStarted, event::MemoryIngestFinished, event::MemoryCompactionProposed,
    event::MemoryCompactionApplied, event::MemoryCompactionSkipped, event::RunAborted,
    event::ToolExecutionBlocked>;

// The event type is the member `kind` in JSON.
bool is_event_type(std::string_view text);
std::string_view event_type(const Event& event);

// Returns the agent of the event, or the runtime instance for `recovery_prepared`.
const std::string& scope(const Event& event);

// True: the event announces an effect. If it cannot be written, the effect must not happen.
// False: the event reports an effect. A failure to report it changes nothing.
bool announces(const Event& event);

// Writes all fields of the kind. An optional field without a value is `null`. Previews are cut.
json::object to_json(const Event& event);

// Reads absent optional fields as `null` and ignores unknown fields. `InvalidInput` names the field
// in `where`: an unknown kind, a missing field, a wrong type, an integer above 2^53-1, a word
// outside its list, or text that is not UTF-8.
Result<Event> event_from_json(const json::value& value);

// Checks an event that code built. It refuses what `event_from_json` refuses, an `error` of a tool
// without `is_error`, a `stop_reason` without `success`, and an abort reason that does not begin
// with one of its words.
Result<void> check(const Event& event);

}  // namespace sallyport
