// One tool invocation that an agent asks for, and what came of it.
//
//   Call call{.agent_id = "agent:planner", .session_id = "s-1", .tool = "read_file",
//             .input = {{"path", "/tmp/x"}}};
//   call.tool_call_id = "toolu_01";   // the model's own id, where there is one
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/json.h"

namespace sallyport {

struct Provenance {
  std::string provider = "unknown";
  std::string model = "unknown";

  bool operator==(const Provenance&) const = default;
};

struct Call {
  std::string call_id{};       // given by the Governor, whatever stands here
  std::string tool_call_id{};  // the model's; unique in one session only; empty: the call id serves
  std::string agent_id{};      // the authenticated principal, never taken from input
  std::string session_id{};
  std::string trace_id{};
  std::string server{};
  std::string tool{};
  json::value input{};
  // The bytes that came, where a double cannot hold one of their numbers (ParsedJson::exact).
  std::optional<std::string> raw_input{};
  std::uint64_t turn = 0;
  Provenance provenance{};
  // Less than the plan's limit if given; never more.
  std::optional<std::chrono::milliseconds> time_limit{};
};

// What a caller and a record see of an answer.
struct ToolResult {
  bool success = false;
  std::string output{};
  json::value data{};  // null where the tool gave text alone
  std::optional<std::uint64_t> duration_ms{};

  bool operator==(const ToolResult&) const = default;
};

json::object to_json(const ToolResult& result);

}  // namespace sallyport
