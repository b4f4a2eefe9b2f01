// A table of what the tools of coding agents and of public tool servers do (RU-24, RU-28, RU-31).
//
//   profile_of_command({"npx", "-y", "@modelcontextprotocol/server-filesystem", "/w"});
//   profile_tool("claude-code", "Bash")->does;   // Does::Run
#pragma once

#include <boost/json/array.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::effects {

enum class Does {
  Nothing,    // plans, prints, or asks the user
  Run,        // a command: a line or a list of words
  Type,       // input for a running program: opaque
  Read,       // each path
  Look,       // each path, or the folder of the call if there is none
  Search,     // everything below each path, or below the folder of the call
  Write,      // each path
  Delete,     // each path
  Move,       // deletes the first path and writes the second
  Patch,      // a patch with headers (RU-30)
  GitRead,    // reads the repository at its path
  GitWrite,   // changes the repository at its path
  Fetch,      // each address
  FetchText,  // each address in a text
  FindOnWeb,  // a search: the host is not known
  Store,      // `store.write`
};
std::string_view to_string(Does does);

// The profile and server name of the tools of our own agent.
inline constexpr std::string_view kOwnAgentProfile = "sallyport-agent";

struct ProfileTool {
  std::string_view profile;
  std::string_view tool;  // `*` at its end matches any rest
  Does does = Does::Nothing;
  // Members of the input with paths, addresses or the command, separated by blanks. All that are
  // present count; a list counts item by item.
  std::string_view members{};
};
std::span<const ProfileTool> profile_tools();

// Null: the profile does not know the tool.
const ProfileTool* profile_tool(std::string_view profile, std::string_view tool);

bool is_profile(std::string_view name);
std::vector<std::string> profile_names();
// True if this is a coding agent with built-in tools.
bool is_agent_profile(std::string_view name);

// The profile of the server that this command starts. Empty: the command is not in the table, or
// has an option that could start something else.
std::string_view profile_of_command(std::span<const std::string> command);

// All rows, or those of one profile, as data: `{profile, tool, does, members}`.
json::array profiles_json(std::string_view profile = {});
// How servers are recognized: `{profile, by: program|npm|python|image, name}`.
json::array servers_json(std::string_view profile = {});
// The table of programs, or its rows of one program: `{program, operands, options, ..}` for each
// name and `{program, subcommand, class, options}` for each subcommand.
json::array programs_json(std::string_view program = {});

}  // namespace sallyport::effects
