// What a call of a tool would do (RU-24..RU-30, RU-58, RU-61). Pure, apart from the files it is
// given.
//
//   ToolBook book;                                       // what the policy says of tools
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

// What an argument of a tool is to it (RU-25).
enum class Role { Reads, Writes, Deletes, Hosts, Commands, Sql };
inline constexpr std::string_view kRoles[] = {"reads", "writes",   "deletes",
                                              "hosts", "commands", "sql"};

struct RoleOf {
  Role role = Role::Reads;
  std::string text{};  // the selector as written
  grants::Selector selector{};
};

// An entry of `tools`.
struct ToolSaid {
  std::string effect_class = "unknown";
  std::vector<RoleOf> roles{};
};

// An entry of `servers`.
struct ServerSaid {
  std::string profile{};  // empty: none; `auto`: that of the command (RU-28)
  bool trust_hints = false;
  bool remote_paths = false;
};

struct ToolBook {
  std::map<std::pair<std::string, std::string>, ToolSaid> tools{};  // server, tool
  std::map<std::string, ServerSaid, std::less<>> servers{};         // `*`: any

  const ToolSaid* tool(const std::string& server, const std::string& name) const;
  const ServerSaid* server(std::string_view name) const;
};

// A text of the input that effects are made of.
struct LookedAt {
  std::string_view text{};
  bool as_address = false;  // only what comes before the path of an address counts
};

// `looked`: if given, gets every text of the input that the effects depend on. A text that is not
// among them may be any other text.
Effects effects_of_call(const CallFacts& facts, const ToolBook& book,
                        std::vector<LookedAt>* looked = nullptr);

// True if this tool takes a command and the policy does not describe it (RU-27).
bool is_command_tool(const CallFacts& facts, const ToolBook& book);
// True if no source knows it and a server whose hints count says that it only reads (RU-29).
bool is_read_only_by_hint(const CallFacts& facts, const ToolBook& book);

// An effect of one of these classes that is not opaque is free (RU-5).
bool is_free(const Effect& effect);

// True if the table of AT-22 has a tool of this name.
bool is_tool_of_table(std::string_view tool);

// Every class that an effect can have without a policy naming it.
std::vector<std::string> known_classes();

}  // namespace sallyport::effects
