#include "hook/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "hook/dialect.h"

namespace sallyport::hook {

namespace {

std::unexpected<Error> lacking(std::string_view name, std::string_view wanted) {
  return fail(ErrorCode::InvalidInput, fmt::format("the event has no {} `{}`", wanted, name),
              "stdin");
}

// Puts the notice into the first text, empties the others, and sets numbers to 0.
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

Result<void> read_text(Event& event, const json::object& object, std::string_view name) {
  SALLYPORT_TRY(const json::value text, needed(object, name));
  event.text = as_text(text);
  return {};
}

// Adds every text and every name of a form, each on its line.
void add_texts(const json::value& value, std::string& out) {
  if (const json::string* const text = value.if_string()) {
    out += '\n';
    out.append(text->data(), text->size());
  } else if (const json::array* const items = value.if_array()) {
    for (const json::value& item : *items) add_texts(item, out);
  } else if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) {
      out += '\n';
      out += std::string_view(member.key());
      add_texts(member.value(), out);
    }
  }
}

// Reads a question of a tool server: all that the user would see of it.
Result<void> read_question(Event& event, const json::object& object) {
  event.server = text_or_empty(object, "mcp_server_name");
  SALLYPORT_CHECK_OK(read_text(event, object, "message"));
  for (const char* const name : {"url", "requested_schema"}) {
    if (const json::value* const shown = object.if_contains(name)) add_texts(*shown, event.text);
  }
  return {};
}

// Reads a call that is about to run, or has run.
Result<void> read_call(Event& event, const json::object& object, bool failed) {
  SALLYPORT_TRY(const std::string tool, needed_text(object, "tool_name"));
  name_tool(event, tool);
  SALLYPORT_TRY(event.input, needed(object, "tool_input"));
  event.call_id = text_or_empty(object, "tool_use_id");
  event.duration_ms = number_in(object, "duration_ms");
  if (event.kind != Event::Kind::After) return {};
  if (failed) {
    SALLYPORT_TRY(const json::value error, needed(object, "error"));
    take_error(event, error);
  } else {
    SALLYPORT_TRY(event.output, needed(object, "tool_response"));
  }
  return {};
}

// Skips a call without an id, which cannot be identified, or without a result, which did not run.
Result<void> read_batch(Event& event, const json::object& object) {
  SALLYPORT_TRY(const json::value listed, needed(object, "tool_calls"));
  if (!listed.is_array()) return lacking("tool_calls", "list");
  const Event shared = event;
  for (const json::value& item : listed.get_array()) {
    const json::object* const call = item.if_object();
    if (call == nullptr) return lacking("tool_calls", "list of objects");
    if (!call->contains("tool_use_id") || !call->contains("tool_response")) continue;
    Event& outcome = event.calls.emplace_back(shared);
    outcome.kind = Event::Kind::After;
    outcome.replaceable = false;
    SALLYPORT_CHECK_OK(read_call(outcome, *call, false));
  }
  return {};
}

}  // namespace

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
  const Result<ParsedJson> parsed = parse_json(std::string_view(value.get_string()), kEventLimits);
  return parsed ? parsed->value : value;
}

Result<json::value> input_inside(const json::value& value) {
  if (!value.is_string()) return value;
  const std::string_view text = value.get_string();
  Result<ParsedJson> parsed = parse_json(text, kEventLimits);
  if (parsed) return std::move(parsed->value);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return value;
  return fail(ErrorCode::InvalidInput,
              "the input of the tool cannot be read: " + parsed.error().message, {},
              parsed.error().cause);
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
  // The shape has no text for it.
  if (!left.empty()) return json::value(notice);
  return shaped;
}

void take_error(Event& event, const json::value& error) {
  event.output = as_text(error);
  event.failed = true;
  event.replaceable = false;
}

std::vector<std::string> texts_in(const json::object& object, std::string_view name) {
  std::vector<std::string> texts;
  const json::value* const list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json::value& text : list->get_array()) {
    if (text.is_string()) texts.emplace_back(text.get_string());
  }
  return texts;
}

Result<void> read_named(Event& event, const json::object& object,
                        std::span<const NamedKind> kinds) {
  SALLYPORT_TRY(event.name, needed_text(object, "hook_event_name"));
  const auto known = std::ranges::find(kinds, event.name, &NamedKind::name);
  if (known == kinds.end()) return {};
  event.kind = known->kind;
  SALLYPORT_TRY(event.session_id, needed_text(object, "session_id"));
  event.folder = text_or_empty(object, "cwd");
  event.workspace = texts_in(object, "workspace_roots");
  event.permission_mode = text_or_empty(object, "permission_mode");
  event.sub_agent = text_or_empty(object, "agent_type");
  event.model = text_or_empty(object, "model");
  switch (event.kind) {
    case Event::Kind::Prompt:
      SALLYPORT_CHECK_OK(read_text(event, object, "prompt"));
      break;
    case Event::Kind::Question:
      SALLYPORT_CHECK_OK(read_question(event, object));
      break;
    case Event::Kind::Batch:
      SALLYPORT_CHECK_OK(read_batch(event, object));
      break;
    case Event::Kind::End:
      break;
    default:
      SALLYPORT_CHECK_OK(read_call(event, object, known->failed));
  }
  return {};
}

// Codex takes a denial without a reason for a failed hook, and runs the call.
std::string call_answer(std::string_view word, const Decision& decision) {
  json::object specific{{"hookEventName", "PreToolUse"}, {"permissionDecision", word}};
  if (decision.kind == Decision::Kind::Rewrite) {
    specific["updatedInput"] = decision.value;
  } else {
    specific["permissionDecisionReason"] = decision.reason.empty() ? "refused" : decision.reason;
  }
  return json::serialize(json::object{{"hookSpecificOutput", std::move(specific)}});
}

std::string block_answer(const std::string& reason) {
  return json::serialize(json::object{{"decision", "block"}, {"reason", reason}});
}

std::string dialog_answer(const Decision& decision) {
  if (decision.kind != Decision::Kind::Deny) return {};
  json::object verdict{{"behavior", "deny"}, {"message", decision.reason}};
  return json::serialize(
      json::object{{"hookSpecificOutput", json::object{{"hookEventName", "PermissionRequest"},
                                                       {"decision", std::move(verdict)}}}});
}

}  // namespace sallyport::hook
