// A call is one tool invocation that an agent asks for. A tool result is what it returned.
//
//   Call call{.agent_id = "agent:planner", .session_id = "s-1", .tool = "read_file",
//             .input = {{"path", "/tmp/x"}}};
//   call.tool_call_id = "toolu_01";   // the model's own id, where there is one
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/autonomy_scopes.h"
#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// The model that asked for a call.
struct Provenance {
  std::string provider = "unknown";
  std::string model = "unknown";

  bool operator==(const Provenance&) const = default;
};

// The surroundings of a call, as far as its front knows them. Policy rules read them; they do not
// change what runs.
struct CallSetting {
  std::string front{};   // `mcp`, `http`, `hook`, `library` or `agent`; empty: unknown
  std::string folder{};  // absolute; relative paths start here; empty: unknown
  std::string user{};    // the user on whose behalf the agent acts; empty: unknown
  std::vector<std::string> workspace{};  // folders of the project; empty: unknown
  bool interactive = false;              // the host can ask its user
  // `provider` and `kind` of the event `trigger_id`, as the front received them.
  std::map<std::string, std::string> trigger{};

  bool operator==(const CallSetting&) const = default;
};

// A value. What `Engine::call` takes.
struct Call {
  std::string call_id{};       // set by the engine; a value given here is ignored
  std::string tool_call_id{};  // the model's id, unique in its session; empty: `call_id` is used
  std::string agent_id{};      // the authenticated principal, never taken from input
  std::string session_id{};
  std::string trace_id{};
  std::string run_id{};  // the run, if Sallyport's agent runtime makes the call
  std::string server{};
  std::string tool{};
  json::value input{};
  // The received bytes, set if a double cannot hold one of their numbers (ParsedJson::exact).
  std::optional<std::string> raw_input{};
  std::uint64_t turn = 0;
  Provenance provenance{};
  std::string agent_name{};       // shown to people; `agent_id` is the identity
  std::uint64_t history_len = 0;  // items in the conversation so far, if the front knows them
  // Shortens the time limit of the plan. It never extends it.
  std::optional<std::chrono::milliseconds> time_limit{};
  // Capability tokens as JSON texts. A call may carry one; two are malformed. Tools and records
  // never contain them.
  std::vector<std::string> grants{};
  // The event that triggered the call; empty: none. Questions about the call are named after it,
  // and `Engine::replay` finds the call by it. 1 to 128 letters, digits, `.`, `_`, `:` and `-`.
  std::string trigger_id{};
  CallSetting setting{};
  AutonomyScopes scopes{};  // the scopes around the call
  // The tier that holds if the policy names none. The program sets it, never the agent.
  std::optional<Autonomy> context_tier{};
};

// A part of an answer that is not text: an image, a sound, a file, a link.
struct Document {
  std::string media_type{};
  std::string data{};                   // base64, or the text itself if the media type is text
  std::optional<std::string> detail{};  // more about the document, such as its address

  bool operator==(const Document&) const = default;
};

// The result of a call, as callers and records see it (AU-18).
struct ToolResult {
  bool success = false;
  std::string output{};
  json::value data{};  // null: the tool returned text only
  std::optional<std::uint64_t> duration_ms{};
  std::optional<std::uint64_t> artifact{};  // id of the stored rest, if `output` was cut
  std::vector<Document> documents{};

  bool operator==(const ToolResult&) const = default;
};

json::object to_json(const Document& document);
json::object to_json(const ToolResult& result);

// Requires `success` and `output`. Unknown members are ignored. `InvalidInput` names the member
// that is missing or has a wrong type; messages name the object `where`.
Result<ToolResult> tool_result_from_json(const json::value& value, std::string where = "result");

}  // namespace sallyport
