// Cursor: `preToolUse` and `postToolUse`, and for the same call `beforeShellExecution`,
// `beforeMCPExecution` and `beforeReadFile`, which are recognised by their `identity`. Under
// `failClosed` silence blocks, so there is always an answer.
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "hook/dialects.h"
#include "hook/members.h"

namespace sallyport::hook {

namespace {

constexpr HostTool kCursorTools[] = {
    {"Shell", Tier::Confirm, "process.exec"},  {"Delete", Tier::Confirm, "fs.delete"},
    {"StrReplace", Tier::Confirm, "fs.write"}, {"TabWrite", Tier::Confirm, "fs.write"},
    {"Read", Tier::Observe, "none"},           {"Grep", Tier::Observe, "none"},
    {"Glob", Tier::Observe, "none"},           {"LS", Tier::Observe, "none"},
    {"SemanticSearch", Tier::Observe, "none"},
};

// For a built-in tool, the one member that both events about a call have. For an MCP tool, both
// events have the same input.
json::value identity_of(const Event& event) {
  const json::object* const input = event.input.if_object();
  if (input == nullptr || !event.server.empty()) return event.input;
  for (const char* const name : {"command", "file_path", "path", "target_file"}) {
    if (const json::value* const value = input->if_contains(name)) return *value;
  }
  return event.input;
}

// The general event names the folder of a command in its input, the specific event does not.
std::string command_folder_of(const Event& event) {
  const json::object* const input = event.input.if_object();
  if (event.tool != "Shell" || !event.server.empty() || input == nullptr) return {};
  const std::string named = text_or_empty(*input, "working_directory");
  if (named.empty()) return event.folder;
  if (named.starts_with('/') || event.folder.empty()) return named;
  return event.folder + "/" + named;
}

void name_cursor_tool(Event& event, const std::string& name) {
  constexpr std::string_view kPrefix = "MCP:";
  event.tool = name;
  if (!name.starts_with(kPrefix)) return;
  // The host does not name the server.
  event.server = "mcp";
  event.tool = name.substr(kPrefix.size());
}

class Cursor final : public Dialect {
 public:
  std::string_view name() const override { return "cursor"; }
  std::span<const HostTool> tools() const override { return kCursorTools; }

  Result<void> read(const json::object& object, Event& event) const override {
    SALLYPORT_TRY(event.name, needed_text(object, "hook_event_name"));
    event.session_id = text_or_empty(object, "conversation_id");
    event.folder = text_or_empty(object, "cwd");
    event.workspace = texts_in(object, "workspace_roots");
    event.model = text_or_empty(object, "model");
    SALLYPORT_CHECK_OK(read_kind(event, object));
    if (event.kind == Event::Kind::Other) return {};
    if (event.session_id.empty()) {
      return fail(ErrorCode::InvalidInput, "the event has no text `conversation_id`", "stdin");
    }
    event.identity = identity_of(event);
    event.command_folder = command_folder_of(event);
    return {};
  }

  std::string write(const Event& event, const Decision& decision, const Setting&) const override {
    using enum Decision::Kind;
    if (event.kind == Event::Kind::After) return after(event, decision);
    if (event.kind == Event::Kind::End) return "{}";
    if (event.kind == Event::Kind::Prompt) {
      json::object answer{{"continue", decision.kind != Deny}};
      if (decision.kind == Deny) answer["user_message"] = decision.reason;
      return json::serialize(answer);
    }
    switch (decision.kind) {
      case Rewrite:
        // Only the general event can carry a new input.
        if (event.repeats) return permitted();
        return json::serialize(
            json::object{{"permission", "allow"}, {"updated_input", decision.value}});
      case Deny:
      case Ask:
      case Wait:
        return json::serialize(
            json::object{{"permission", "deny"}, {"user_message", decision.reason}});
      default:
        return permitted();
    }
  }

 private:
  static std::string permitted() { return json::serialize(json::object{{"permission", "allow"}}); }

  static std::string after(const Event& event, const Decision& decision) {
    using enum Decision::Kind;
    if (decision.kind != Replace && decision.kind != Withhold) return "{}";
    if (!event.replaceable) {
      return json::serialize(json::object{
          {"additional_context",
           decision.kind == Withhold ? std::string_view(decision.reason) : kDoNotRepeat}});
    }
    json::value output = decision.kind == Replace ? decision.value : json::value(decision.reason);
    return json::serialize(json::object{{"updated_mcp_tool_output", std::move(output)}});
  }

  static Result<void> read_kind(Event& event, const json::object& object) {
    const std::string& name = event.name;
    using enum Event::Kind;
    if (name == "preToolUse" || name == "postToolUse" || name == "postToolUseFailure") {
      return read_general(event, object);
    }
    if (name == "beforeShellExecution" || name == "afterShellExecution") {
      event.kind = name == "beforeShellExecution" ? Before : After;
      event.tool = "Shell";
      SALLYPORT_TRY(const std::string command, needed_text(object, "command"));
      event.input = json::object{{"command", command}};
      if (event.kind == After) {
        SALLYPORT_TRY(event.output, needed(object, "output"));
      }
    } else if (name == "beforeMCPExecution" || name == "afterMCPExecution") {
      event.kind = name == "beforeMCPExecution" ? Before : After;
      SALLYPORT_TRY(event.tool, needed_text(object, "tool_name"));
      event.server = "mcp";
      SALLYPORT_TRY(const json::value input, needed(object, "tool_input"));
      SALLYPORT_TRY(event.input, input_inside(input));
      if (event.kind == After) {
        SALLYPORT_TRY(const json::value output, needed(object, "result_json"));
        event.output = json_inside(output);
      }
    } else if (name == "beforeReadFile") {
      event.kind = Before;
      event.tool = "Read";
      SALLYPORT_TRY(const std::string file, needed_text(object, "file_path"));
      event.input = json::object{{"file_path", file}};
    } else if (name == "beforeSubmitPrompt") {
      event.kind = Prompt;
      event.text = text_or_empty(object, "prompt");
      return {};
    } else if (name == "sessionEnd") {
      event.kind = End;
      // A conversation is a session by another name.
      if (event.session_id.empty()) event.session_id = text_or_empty(object, "session_id");
      return {};
    }
    event.repeats = event.kind != Other;
    event.replaceable = event.server == "mcp";
    return {};
  }

  static Result<void> read_general(Event& event, const json::object& object) {
    const bool before = event.name == "preToolUse";
    event.kind = before ? Event::Kind::Before : Event::Kind::After;
    SALLYPORT_TRY(const std::string tool, needed_text(object, "tool_name"));
    name_cursor_tool(event, tool);
    event.replaceable = event.server == "mcp";
    SALLYPORT_TRY(const json::value input, needed(object, "tool_input"));
    SALLYPORT_TRY(event.input, input_inside(input));
    if (before) return {};
    const bool failed = event.name == "postToolUseFailure";
    SALLYPORT_TRY(const json::value output,
                  needed(object, failed ? "error_message" : "tool_output"));
    if (failed) {
      take_error(event, output);
    } else {
      event.output = json_inside(output);
    }
    event.duration_ms = number_in(object, "duration");
    return {};
  }
};

}  // namespace

const Dialect& cursor() {
  static const Cursor kOnly;
  return kOnly;
}

}  // namespace sallyport::hook
