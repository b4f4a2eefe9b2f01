// The effects of a tool call (RU-24..RU-30, RU-58, RU-61). A pure function, except that it reads
// `CallFacts::files`.
//
//   ToolBook book;                                       // the tools in the policy
//   Effects effects = effects_of_call(facts, book);      // at least one
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/call_facts.h"
#include "effects/effect.h"
#include "grants/selector.h"

namespace sallyport::effects {

// How a tool uses an argument (RU-25).
enum class Role { Reads, Writes, Deletes, Hosts, Commands, Sql };
inline constexpr std::string_view kRoles[] = {"reads", "writes",   "deletes",
                                              "hosts", "commands", "sql"};

struct RoleOf {
  Role role = Role::Reads;
  std::string text{};  // the selector as written
  grants::Selector selector{};
};

// An entry of `tools` in a policy.
struct ToolDescription {
  std::string effect_class = "unknown";
  std::vector<RoleOf> roles{};
};

// An entry of `servers` in a policy.
struct ServerDescription {
  std::string profile{};  // empty: none; `auto`: by the server's command (RU-28)
  bool trust_hints = false;
  bool remote_paths = false;
  std::string place{};  // file:line:column
};

struct ToolBook {
  std::map<std::pair<std::string, std::string>, ToolDescription> tools{};  // server, tool
  std::map<std::string, ServerDescription, std::less<>> servers{};         // `*`: any

  const ToolDescription* tool(const std::string& server, const std::string& name) const;
  const ServerDescription* server(std::string_view name) const;
};

// A text of the input that effects depend on.
struct UsedText {
  std::string_view text{};
  bool as_address = false;  // only the part before the path of an address counts
};

// `used`, if given, receives every text of the input that the effects depend on. Changing another
// text does not change the effects.
Effects effects_of_call(const CallFacts& facts, const ToolBook& book,
                        std::vector<UsedText>* used = nullptr);

// True if this tool takes a command and the policy does not describe it (RU-27).
bool is_command_tool(const CallFacts& facts, const ToolBook& book);
// True if no source knows the tool and a server with trusted hints marks it as read-only (RU-29).
bool is_read_only_by_hint(const CallFacts& facts, const ToolBook& book);

// True for an effect of class `none` or `fs.read` that is not opaque: it is free (RU-5).
bool is_free(const Effect& effect);

// True if the table of AT-22 contains this tool.
bool is_tool_of_table(std::string_view tool);

// All built-in classes of effects.
std::vector<std::string> known_classes();

}  // namespace sallyport::effects
