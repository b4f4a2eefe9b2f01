// One tool invocation that an agent asks for, and what came of it.
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

struct Provenance {
  std::string provider = "unknown";
  std::string model = "unknown";

  bool operator==(const Provenance&) const = default;
};

// Where a call comes from, as far as its front knows. Rules look at it; the input is what runs.
struct CallSetting {
  std::string front{};   // `mcp`, `http`, `hook`, `library` or `agent`; empty: unknown
  std::string folder{};  // absolute, what relative paths start from; empty: unknown
  std::vector<std::string> workspace{};  // folders of the project; empty: unknown
  bool interactive = false;              // the host can ask its user
  // What is known of the event `trigger_id`: `provider` and `kind`, as the front was told.
  std::map<std::string, std::string> trigger{};

  bool operator==(const CallSetting&) const = default;
};

struct Call {
  std::string call_id{};       // given by the Governor, whatever stands here
  std::string tool_call_id{};  // the model's; unique in one session only; empty: the call id serves
  std::string agent_id{};      // the authenticated principal, never taken from input
  std::string session_id{};
  std::string trace_id{};
  std::string run_id{};  // of the agent's run, where its runtime is ours
  std::string server{};
  std::string tool{};
  json::value input{};
  // The bytes that came, where a double cannot hold one of their numbers (ParsedJson::exact).
  std::optional<std::string> raw_input{};
  std::uint64_t turn = 0;
  Provenance provenance{};
  std::string agent_name{};       // for people; who acts is `agent_id`
  std::uint64_t history_len = 0;  // items of the conversation so far, where the front knows them
  // Less than the plan's limit if given; never more.
  std::optional<std::chrono::milliseconds> time_limit{};
  // Capability tokens as they came: JSON texts. At most one is considered, two are malformed. No
  // tool and no record ever sees them.
  std::vector<std::string> grants{};
  // The event that set the call off, where one did: questions about it are named after that, and
  // `Engine::replay` finds what came of it. 1 to 128 letters, digits, `.`, `_`, `:` and `-`.
  std::string trigger_id{};
  CallSetting setting{};
  AutonomyScopes scopes{};  // around the call, as they are now
  // The tier that counts where the policy names none; the program's own word, never the agent's.
  std::optional<Autonomy> context_tier{};
};

// A part of an answer that is no text: an image, a sound, a file, a link.
struct Document {
  std::string media_type{};
  std::string data{};                   // base64, or the text itself where the media type is text
  std::optional<std::string> detail{};  // what else is known of it, such as its address

  bool operator==(const Document&) const = default;
};

// What a caller and a record see of an answer (AU-18).
struct ToolResult {
  bool success = false;
  std::string output{};
  json::value data{};  // null where the tool gave text alone
  std::optional<std::uint64_t> duration_ms{};
  std::optional<std::uint64_t> artifact{};  // id of the stored rest of an output cut for its length
  std::vector<Document> documents{};

  bool operator==(const ToolResult&) const = default;
};

json::object to_json(const Document& document);
json::object to_json(const ToolResult& result);

// `success` and `output` are enough, unknown members are ignored. `InvalidInput` names the member
// that is missing or of another type; `where` is how messages name the object.
Result<ToolResult> tool_result_from_json(const json::value& value, std::string where = "result");

}  // namespace sallyport
