// Copilot CLI and cloud agent. An event in camelCase does not contain its name; its members tell
// it. An event in PascalCase has the form of Claude Code. A run without a user takes `ask` for a
// denial.
#include <algorithm>
#include <boost/json.hpp>
#include <initializer_list>

#include "base/json_members.h"
#include "base/try.h"
#include "hook/dialects.h"
#include "hook/members.h"

namespace sallyport::hook {

namespace {

constexpr HostTool kCopilotTools[] = {
    {"powershell", Tier::Confirm, "process.exec"},
    {"write_bash", Tier::Confirm, "process.exec"},
    {"stop_bash", Tier::Confirm, "process.exec"},
    {"create", Tier::Confirm, "fs.write"},
    {"edit", Tier::Confirm, "fs.write"},
    {"str_replace_editor", Tier::Confirm, "fs.write"},
    {"web_fetch", Tier::Confirm, "network.request"},
    {"view", Tier::Observe, "none"},
    {"glob", Tier::Observe, "none"},
    {"grep", Tier::Observe, "none"},
    {"rg", Tier::Observe, "none"},
    {"read_bash", Tier::Observe, "none"},
    {"report_intent", Tier::Observe, "none"},
};

constexpr NamedKind kCopilotKinds[] = {kClaudeBefore,     kClaudeAfter,  kClaudeFailed,
                                       kClaudePermission, kClaudePrompt, kClaudeEnd};

bool has_any(const json::object& object, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return object.contains(name); });
}

class Copilot final : public Dialect {
 public:
  std::string_view name() const override { return "copilot"; }
  std::span<const HostTool> tools() const override { return kCopilotTools; }
  bool asks(const Setting& setting) const override { return setting.interactive; }

  Result<void> read(const json::object& object, Event& event) const override {
    if (object.contains("hook_event_name")) return read_pascal(event, object);
    event.session_id = text_or_empty(object, "sessionId");
    event.folder = text_or_empty(object, "cwd");
    if (has_any(object, {"toolName", "toolArgs", "toolInput", "toolResult"})) {
      return read_call(event, object);
    }
    // Every event has these. Without them it may be a damaged call, which must not pass.
    if (!has_any(object, {"timestamp", "cwd", "sessionId"})) {
      return fail(ErrorCode::InvalidInput, "the event is not one of Copilot's");
    }
    if (object.contains("prompt") && !object.contains("source")) {
      event.kind = Event::Kind::Prompt;
      event.name = "userPromptSubmitted";
      event.text = as_text(object.at("prompt"));
    } else if (text_in(object, "reason")) {
      // No other event has a reason: turns that end have a `stopReason`.
      event.kind = Event::Kind::End;
      event.name = "sessionEnd";
      name_session(event);
    }
    return {};
  }

  std::string write(const Event& event, const Decision& decision, const Setting&) const override {
    using enum Decision::Kind;
    if (event.kind == Event::Kind::Permission) {
      if (decision.kind != Deny) return {};
      return json::serialize(json::object{{"behavior", "deny"}, {"message", decision.reason}});
    }
    switch (decision.kind) {
      case Allow:
        return {};
      case Deny:
        // A prompt cannot be denied here, but its calls can.
        return event.kind == Event::Kind::Prompt ? std::string() : decided("deny", decision);
      case Wait:
        return decided("deny", decision);
      case Ask:
        return decided("ask", decision);
      case Rewrite:
        return json::serialize(json::object{{"modifiedArgs", decision.value}});
      case Replace:
        return shown(event, as_text(decision.value));
      case Withhold:
        return shown(event, decision.reason);
    }
    return {};
  }

 private:
  // Its own name for a result is `tool_result`, where Claude Code says `tool_response`.
  static Result<void> read_pascal(Event& event, const json::object& object) {
    const json::value* const result = object.if_contains("tool_result");
    if (result == nullptr) return read_named(event, object, kCopilotKinds);
    json::object renamed = object;
    renamed["tool_response"] = *result;
    SALLYPORT_CHECK_OK(read_named(event, renamed, kCopilotKinds));
    if (event.kind == Event::Kind::After) take_result(event, *result);
    return {};
  }
  // Older releases name no session, so the folder identifies the conversation.
  static void name_session(Event& event) {
    if (event.session_id.empty()) event.session_id = "copilot:" + event.folder;
  }
  static Result<void> read_call(Event& event, const json::object& object) {
    const json::value* const error = object.if_contains("error");
    const json::value* const result = object.if_contains("toolResult");
    // Only the question whether a call may run calls its arguments so.
    const bool permission = object.contains("toolInput") && !object.contains("toolArgs");
    using enum Event::Kind;
    event.kind = error || result ? After : permission ? Permission : Before;
    event.name = error        ? "postToolUseFailure"
                 : result     ? "postToolUse"
                 : permission ? "permissionRequest"
                              : "preToolUse";
    SALLYPORT_TRY(const std::string tool, needed_text(object, "toolName"));
    name_tool(event, tool);
    SALLYPORT_TRY(const json::value given, needed(object, permission ? "toolInput" : "toolArgs"));
    SALLYPORT_TRY(event.input, input_inside(given));
    name_session(event);
    if (error) {
      take_error(event, *error);
    } else if (result) {
      take_result(event, *result);
    }
    return {};
  }
  static void take_result(Event& event, const json::value& result) {
    const json::object* const object = result.if_object();
    if (object == nullptr) {
      event.output = result;
      return;
    }
    const bool camel = object->contains("textResultForLlm") || object->contains("resultType");
    const json::value* const text =
        object->if_contains(camel ? "textResultForLlm" : "text_result_for_llm");
    event.output = text != nullptr ? *text : result;
    const auto type = text_in(*object, camel ? "resultType" : "result_type");
    event.failed = type && *type != "success";
  }
  static std::string decided(std::string_view word, const Decision& decision) {
    return json::serialize(
        json::object{{"permissionDecision", word}, {"permissionDecisionReason", decision.reason}});
  }
  static std::string shown(const Event& event, const std::string& text) {
    if (!event.replaceable) return json::serialize(json::object{{"additionalContext", text}});
    return json::serialize(json::object{
        {"modifiedResult", json::object{{"resultType", "success"}, {"textResultForLlm", text}}}});
  }
};

}  // namespace

const Dialect& copilot() {
  static const Copilot kOnly;
  return kOnly;
}

}  // namespace sallyport::hook
