// Helpers of several dialects: members of an event, and texts of results.
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

// `InvalidInput`: a required member is missing, or of another type.
Result<std::string> needed_text(const json::object& object, std::string_view name);
Result<json::value> needed(const json::object& object, std::string_view name);

// The texts of a list; empty: there is no list.
std::vector<std::string> texts_in(const json::object& object, std::string_view name);

// Parses a text that holds JSON. Any other value is returned as it is.
json::value json_inside(const json::value& value);
// The same for the input of a tool. `InvalidInput`: an object that cannot be parsed. The host might
// still read it, and rules would not see its members.
Result<json::value> input_inside(const json::value& value);

// `mcp__server__tool` is a tool of a server; any other name is the host's own.
void name_tool(Event& event, std::string_view name);

// A result as the model reads it.
std::string as_text(const json::value& value);

// A value of the same shape with only `notice` as its text. Hosts refuse another shape.
json::value shaped_notice(const json::value& value, std::string_view notice);

// A host's name of an event.
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

// Reads an event with its name in `hook_event_name` and the members that Claude Code and similar
// hosts share. Any other name is `Other`.
Result<void> read_named(Event& event, const json::object& object, std::span<const NamedKind> kinds);

// Takes an error, which the host shows unchanged.
void take_error(Event& event, const json::value& error);

// The notice about a result that could not be replaced.
inline constexpr std::string_view kDoNotRepeat =
    "The result held what may not be shown; do not repeat it.";

// The answers of Claude Code and of Codex: to a call, to a prompt or a result, to a dialog.
std::string call_answer(std::string_view word, const Decision& decision);
std::string block_answer(const std::string& reason);
std::string dialog_answer(const Decision& decision);  // empty: the user is asked

}  // namespace sallyport::hook
