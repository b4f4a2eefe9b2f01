// Codex: events as Claude Code has them. A bare `allow`, `ask` and unknown members count as a
// failed hook, and a failed hook lets the call run: what is not needed is not said.
#include <boost/json.hpp>

#include "hook/dialects.h"
#include "hook/members.h"

namespace sallyport::hook {

namespace {

constexpr HostTool kTools[] = {
    {"local_shell", Tier::Confirm, "process.exec"},
    {"exec_command", Tier::Confirm, "process.exec"},
    {"update_plan", Tier::Observe, "none"},
    {"view_image", Tier::Observe, "none"},
};

class Codex final : public Dialect {
 public:
  std::string_view name() const override { return "codex"; }
  std::span<const HostTool> tools() const override { return kTools; }

  Result<Event> read(const json::object& object) const override {
    Result<Event> event = read_claude_like(object);
    // It has no event for a tool that failed.
    if (event && event->failed) event->kind = Event::Kind::Other;
    return event;
  }

  std::string write(const Event& event, const Decision& decision, const Setting&) const override {
    using enum Decision::Kind;
    switch (decision.kind) {
      case Allow:
        return {};
      case Deny:
        if (event.kind == Event::Kind::Prompt) return block(decision.reason);
        return decided("deny", decision);
      case Ask:
      case Wait:
        return decided("deny", decision);
      case Rewrite:
        return decided("allow", decision);
      case Replace:
        return block(as_text(decision.value));
      case Withhold:
        return block(decision.reason);
    }
    return {};
  }

 private:
  static std::string decided(std::string_view word, const Decision& decision) {
    json::object specific{{"hookEventName", "PreToolUse"}, {"permissionDecision", word}};
    if (decision.kind == Decision::Kind::Rewrite) {
      specific["updatedInput"] = decision.value;
    } else {
      specific["permissionDecisionReason"] = decision.reason;
    }
    return json::serialize(json::object{{"hookSpecificOutput", std::move(specific)}});
  }
  // Of a result: the reason takes its place.
  static std::string block(const std::string& reason) {
    return json::serialize(json::object{{"decision", "block"}, {"reason", reason}});
  }
};

}  // namespace

const Dialect& codex() {
  static const Codex kOnly;
  return kOnly;
}

}  // namespace sallyport::hook
