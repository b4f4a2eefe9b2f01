// What several dialects have in common: the members of an event, and texts made of results.
#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hook/decision.h"
#include "hook/event.h"
#include "sallyport/result.h"

namespace sallyport::hook {

// `InvalidInput`: a member that the event cannot do without.
Result<std::string> needed_text(const json::object& object, std::string_view name);
Result<json::value> needed(const json::object& object, std::string_view name);

// The texts of a list; empty where there is none.
std::vector<std::string> texts_in(const json::object& object, std::string_view name);

// The value of a text that holds JSON; what is none stays a text.
json::value json_inside(const json::value& value);
// The same for what a tool is given. `InvalidInput` for an object that cannot be read: the host may
// read it all the same, and no rule about its members would see them.
Result<json::value> input_inside(const json::value& value);

// `mcp__server__tool` is a tool of a server; any other name is the host's own.
void name_tool(Event& event, std::string_view name);

// A result as the model reads it.
std::string as_text(const json::value& value);

// A value of the same shape that says `notice` and nothing else: hosts refuse another shape.
json::value shaped_notice(const json::value& value, std::string_view notice);

// How a host calls its events.
struct NamedKind {
  std::string_view name;
  Event::Kind kind;
  bool failed = false;  // a tool that has run and failed
};
inline constexpr NamedKind kClaudeBefore{"PreToolUse", Event::Kind::Before};
inline constexpr NamedKind kClaudeAfter{"PostToolUse", Event::Kind::After};
inline constexpr NamedKind kClaudeFailed{"PostToolUseFailure", Event::Kind::After, true};
inline constexpr NamedKind kClaudePermission{"PermissionRequest", Event::Kind::Permission};
inline constexpr NamedKind kClaudePrompt{"UserPromptSubmit", Event::Kind::Prompt};
inline constexpr NamedKind kClaudeEnd{"SessionEnd", Event::Kind::End};

// An event that says its name in `hook_event_name`, with the members that Claude Code and those who
// follow it share. Any other name is `Other`.
Result<void> read_named(Event& event, const json::object& object, std::span<const NamedKind> kinds);

// An error that the host shows whatever we say.
void take_error(Event& event, const json::value& error);

// What is said of a result that should have been replaced and cannot be.
inline constexpr std::string_view kDoNotRepeat =
    "The result held what may not be shown; do not repeat it.";

// Words of Claude Code and of Codex: about a call, about a prompt or a result, about a dialog.
std::string said_of_call(std::string_view word, const Decision& decision);
std::string said_block(const std::string& reason);
std::string said_of_dialog(const Decision& decision);  // empty: the user is asked

}  // namespace sallyport::hook
