// What several dialects have in common: the members of an event, and texts made of results.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "hook/event.h"
#include "sallyport/result.h"

namespace sallyport::hook {

// Empty where it is not there.
std::string text_or_empty(const json::object& object, std::string_view name);

// `InvalidInput`: a member that the event cannot do without.
Result<std::string> needed_text(const json::object& object, std::string_view name);
Result<json::value> needed(const json::object& object, std::string_view name);

// The value of a text that holds JSON; what is none stays a text.
json::value json_inside(const json::value& value);

// `mcp__server__tool` is a tool of a server; any other name is the host's own.
void name_tool(Event& event, std::string_view name);

// A result as the model reads it.
std::string as_text(const json::value& value);

// A value of the same shape that says `notice` and nothing else: hosts refuse another shape.
json::value shaped_notice(const json::value& value, std::string_view notice);

// The members that Claude Code and those who follow it share.
Result<Event> read_claude_like(const json::object& object);

}  // namespace sallyport::hook
