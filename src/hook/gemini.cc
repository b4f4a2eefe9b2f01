// Gemini CLI: `BeforeTool`, `AfterTool`, `BeforeAgent`. It gives calls no ids, and has no field
// that replaces a result; the reason of a denial replaces it.
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "hook/dialects.h"
#include "hook/members.h"

namespace sallyport::hook {

namespace {

constexpr HostTool kGeminiTools[] = {
    {"run_shell_command", Tier::Confirm, "process.exec"},
    {"write_file", Tier::Confirm, "fs.write"},
    {"replace", Tier::Confirm, "fs.write"},
    {"web_fetch", Tier::Confirm, "network.request"},
    {"google_web_search", Tier::Confirm, "network.request"},
    {"save_memory", Tier::Confirm, "agent_state.write"},
    {"read_file", Tier::Observe, "none"},
    {"read_many_files", Tier::Observe, "none"},
    {"list_directory", Tier::Observe, "none"},
    {"glob", Tier::Observe, "none"},
    {"search_file_content", Tier::Observe, "none"},
    {"grep_search", Tier::Observe, "none"},
};

constexpr NamedKind kGeminiKinds[] = {
    {"BeforeTool", Event::Kind::Before},
    {"AfterTool", Event::Kind::After},
    {"BeforeAgent", Event::Kind::Prompt},
    {"SessionEnd", Event::Kind::End},
};

void name_gemini_tool(Event& event, const json::object& object) {
  const std::string name = text_or_empty(object, "tool_name");
  event.server.clear();
  event.tool = name;
  const json::object* const context = object_in(object, "mcp_context");
  if (context == nullptr) return;
  event.server = text_or_empty(*context, "server_name");
  // A tool without a name is not one of the host's own tools.
  if (event.server.empty()) event.server = "mcp";
  const auto tool = text_in(*context, "tool_name");
  const std::string prefix = "mcp_" + event.server + "_";
  if (tool) {
    event.tool = *tool;
  } else if (name.starts_with(prefix)) {
    event.tool = name.substr(prefix.size());
  }
}

class Gemini final : public Dialect {
 public:
  std::string_view name() const override { return "gemini"; }
  std::span<const HostTool> tools() const override { return kGeminiTools; }

  Result<void> read(const json::object& object, Event& event) const override {
    SALLYPORT_CHECK_OK(read_named(event, object, kGeminiKinds));
    if (event.kind != Event::Kind::Before && event.kind != Event::Kind::After) return {};
    name_gemini_tool(event, object);
    const json::object* const response = event.output.if_object();
    const json::value* const error = response ? response->if_contains("error") : nullptr;
    event.failed = error != nullptr && !error->is_null();
    return {};
  }

  std::string write(const Event&, const Decision& decision, const Setting&) const override {
    using enum Decision::Kind;
    switch (decision.kind) {
      case Allow:
        return "{}";
      case Deny:
      case Ask:
      case Wait:
      case Withhold:
        return denied(decision.reason);
      case Rewrite:
        return json::serialize(
            json::object{{"hookSpecificOutput", json::object{{"tool_input", decision.value}}}});
      case Replace:
        return denied(as_text(shown_part(decision.value)));
    }
    return "{}";
  }

 private:
  static std::string denied(const std::string& reason) {
    return json::serialize(json::object{{"decision", "deny"}, {"reason", reason}});
  }
  static const json::value& shown_part(const json::value& value) {
    const json::object* const object = value.if_object();
    const json::value* const shown = object ? object->if_contains("llmContent") : nullptr;
    return shown != nullptr ? *shown : value;
  }
};

}  // namespace

const Dialect& gemini() {
  static const Gemini kOnly;
  return kOnly;
}

}  // namespace sallyport::hook
