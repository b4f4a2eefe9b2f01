// Claude Code: `PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `UserPromptSubmit`. Silence
// leaves the user's own permission rules in force.
#include <boost/json.hpp>

#include "hook/dialects.h"
#include "hook/members.h"

namespace sallyport::hook {

namespace {

class ClaudeCode final : public Dialect {
 public:
  std::string_view name() const override { return "claude-code"; }
  Result<Event> read(const json::object& object) const override { return read_claude_like(object); }
  bool asks(const Setting& setting) const override { return setting.interactive; }

  std::string write(const Event& event, const Decision& decision,
                    const Setting& setting) const override {
    using enum Decision::Kind;
    switch (decision.kind) {
      case Allow:
        return {};
      case Deny:
        if (event.kind == Event::Kind::Prompt) return block(decision.reason);
        return decided("deny", decision);
      case Ask:
        return decided("ask", decision);
      case Wait:
        // A run without a terminal stops here; `--resume` asks again.
        return decided(setting.interactive ? "deny" : "defer", decision);
      case Rewrite:
        return decided("allow", decision);
      case Replace:
        if (event.failed)
          return said("The error text held what may not be shown; do not repeat it.");
        return replaced(decision.value, {});
      case Withhold:
        if (event.failed) return said(decision.reason);
        return replaced(shaped_notice(event.output, decision.reason), decision.reason);
    }
    return {};
  }

 private:
  static std::string decided(std::string_view word, const Decision& decision) {
    json::object specific{{"hookEventName", "PreToolUse"}, {"permissionDecision", word}};
    if (!decision.reason.empty()) specific["permissionDecisionReason"] = decision.reason;
    if (decision.kind == Decision::Kind::Rewrite) specific["updatedInput"] = decision.value;
    return json::serialize(json::object{{"hookSpecificOutput", std::move(specific)}});
  }
  static std::string block(const std::string& reason) {
    return json::serialize(json::object{{"decision", "block"}, {"reason", reason}});
  }
  static std::string replaced(json::value output, const std::string& blocked) {
    json::object answer;
    if (!blocked.empty()) answer = {{"decision", "block"}, {"reason", blocked}};
    answer["hookSpecificOutput"] =
        json::object{{"hookEventName", "PostToolUse"}, {"updatedToolOutput", std::move(output)}};
    return json::serialize(answer);
  }
  // An error text cannot be replaced here.
  static std::string said(std::string_view text) {
    return json::serialize(
        json::object{{"hookSpecificOutput", json::object{{"hookEventName", "PostToolUseFailure"},
                                                         {"additionalContext", text}}}});
  }
};

}  // namespace

const Dialect& claude_code() {
  static const ClaudeCode kOnly;
  return kOnly;
}

}  // namespace sallyport::hook
