#include "hook/members.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::hook {

namespace {

std::unexpected<Error> lacking(std::string_view name, std::string_view wanted) {
  return fail(ErrorCode::InvalidInput, fmt::format("the event has no {} `{}`", wanted, name),
              "stdin");
}

// The first text says it, the others are emptied; what is no text could still tell something.
void put_notice(json::value& value, std::string_view& notice) {
  if (value.is_object()) {
    for (auto& member : value.get_object()) put_notice(member.value(), notice);
  } else if (value.is_array()) {
    for (json::value& item : value.get_array()) put_notice(item, notice);
  } else if (value.is_string()) {
    value = notice;
    notice = {};
  } else if (value.is_number()) {
    value = 0;
  }
}

}  // namespace

std::string text_or_empty(const json::object& object, std::string_view name) {
  return std::string(text_in(object, name).value_or(""));
}

Result<std::string> needed_text(const json::object& object, std::string_view name) {
  const auto text = text_in(object, name);
  if (!text || text->empty()) return lacking(name, "text");
  return std::string(*text);
}

Result<json::value> needed(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return lacking(name, "member");
  return *value;
}

json::value json_inside(const json::value& value) {
  if (!value.is_string()) return value;
  const Result<ParsedJson> parsed = parse_json(std::string_view(value.get_string()));
  return parsed ? parsed->value : value;
}

void name_tool(Event& event, std::string_view name) {
  constexpr std::string_view kPrefix = "mcp__";
  event.tool = name;
  if (!name.starts_with(kPrefix)) return;
  const std::string_view rest = name.substr(kPrefix.size());
  const std::size_t end = rest.find("__");
  if (end == 0 || end == std::string_view::npos || end + 2 == rest.size()) return;
  event.server = rest.substr(0, end);
  event.tool = rest.substr(end + 2);
}

std::string as_text(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  return json::serialize(value);
}

json::value shaped_notice(const json::value& value, std::string_view notice) {
  json::value shaped = value;
  std::string_view left = notice;
  put_notice(shaped, left);
  // There was no place for it.
  if (!left.empty()) return json::value(notice);
  return shaped;
}

Result<Event> read_claude_like(const json::object& object) {
  Event event;
  SALLYPORT_TRY(event.name, needed_text(object, "hook_event_name"));
  const bool before = event.name == "PreToolUse";
  const bool after = event.name == "PostToolUse";
  const bool failed = event.name == "PostToolUseFailure";
  const bool prompt = event.name == "UserPromptSubmit";
  if (!before && !after && !failed && !prompt) return event;
  SALLYPORT_TRY(event.session_id, needed_text(object, "session_id"));
  event.folder = text_or_empty(object, "cwd");
  event.permission_mode = text_or_empty(object, "permission_mode");
  event.sub_agent = text_or_empty(object, "agent_type");
  event.model = text_or_empty(object, "model");
  if (prompt) {
    event.kind = Event::Kind::Prompt;
    SALLYPORT_TRY(const json::value text, needed(object, "prompt"));
    event.prompt = as_text(text);
    return event;
  }
  event.kind = before ? Event::Kind::Before : Event::Kind::After;
  SALLYPORT_TRY(const std::string tool, needed_text(object, "tool_name"));
  name_tool(event, tool);
  SALLYPORT_TRY(event.input, needed(object, "tool_input"));
  event.call_id = text_or_empty(object, "tool_use_id");
  event.duration_ms = number_in(object, "duration_ms");
  if (after) {
    SALLYPORT_TRY(event.output, needed(object, "tool_response"));
  } else if (failed) {
    SALLYPORT_TRY(const json::value error, needed(object, "error"));
    event.output = as_text(error);
    event.failed = true;
    event.replaceable = false;
  }
  return event;
}

}  // namespace sallyport::hook
