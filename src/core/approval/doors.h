// The doors by which answers come, as records name them (`Reply::door`, `Vote::door`).
#pragma once

#include <string_view>

namespace sallyport::core {

// A form of an MCP client, which is software near the agent.
inline constexpr std::string_view kClientDoor = "mcp:elicitation";
// The terminal of our own agent. Its reviewer is registered as the client of that name.
inline constexpr std::string_view kAgentTerminalDoor = "cli:client";
// The dialog of a coding agent's host. Its approval counts only for the call with which it was
// observed, not for an identical one (AP-33).
inline constexpr std::string_view kHostDoor = "hook";
// An external approver: this prefix and its id, under which it answers.
inline constexpr std::string_view kExternalDoor = "external:";
// A page of the console.
inline constexpr std::string_view kConsoleDoor = "console";
// Commands and the HTTP API: these prefixes and how the person was authenticated.
inline constexpr std::string_view kCommandDoors = "cli:";
inline constexpr std::string_view kHttpDoors = "http:";

// True for the doors of commands and of `serve`, which answer questions of other processes too.
inline bool is_of_a_person_elsewhere(std::string_view door) {
  return door == kConsoleDoor || door.starts_with(kCommandDoors) || door.starts_with(kHttpDoors);
}

}  // namespace sallyport::core
