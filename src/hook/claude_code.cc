// Claude Code. Silence leaves the user's own permission rules in force.
#include <boost/json.hpp>

#include "hook/dialects.h"
#include "hook/members.h"

namespace sallyport::hook {

namespace {

constexpr NamedKind kClaudeKinds[] = {
    kClaudeBefore,
    kClaudeAfter,
    kClaudeFailed,
    {"PostToolBatch", Event::Kind::Batch},
    kClaudePermission,
    kClaudePrompt,
    {"Elicitation", Event::Kind::Question},
    kClaudeEnd,
};

class ClaudeCode final : public Dialect {
 public:
  std::string_view name() const override { return "claude-code"; }
  Result<void> read(const json::object& object, Event& event) const override {
    return read_named(event, object, kClaudeKinds);
  }
  bool asks(const Setting& setting) const override { return setting.interactive; }

  std::string write(const Event& event, const Decision& decision,
                    const Setting& setting) const override {
    if (decision.kind == Decision::Kind::Allow) return {};
    switch (event.kind) {
      case Event::Kind::Prompt:
        return block_answer(decision.reason);
      case Event::Kind::Permission:
        return dialog_answer(decision);
      case Event::Kind::Question:
        return output(event, "action", "decline");
      case Event::Kind::After:
      case Event::Kind::Batch:
        return of_result(event, decision);
      default:
        return of_call(decision, setting);
    }
  }

 private:
  static std::string of_call(const Decision& decision, const Setting& setting) {
    using enum Decision::Kind;
    switch (decision.kind) {
      case Ask:
        return call_answer("ask", decision);
      case Wait:
        // A run without a terminal stops here; `--resume` asks again.
        return call_answer(setting.interactive ? "deny" : "defer", decision);
      case Rewrite:
        return call_answer("allow", decision);
      default:
        return call_answer("deny", decision);
    }
  }

  static std::string of_result(const Event& event, const Decision& decision) {
    const bool withheld = decision.kind != Decision::Kind::Replace;
    // The model is not asked again before a person has looked.
    if (event.kind == Event::Kind::Batch && withheld) return block_answer(decision.reason);
    if (!event.replaceable || event.kind == Event::Kind::Batch) {
      return output(event, "additionalContext", withheld ? decision.reason : kDoNotRepeat);
    }
    json::object answer;
    if (withheld) answer = {{"decision", "block"}, {"reason", decision.reason}};
    answer["hookSpecificOutput"] =
        json::object{{"hookEventName", "PostToolUse"},
                     {"updatedToolOutput",
                      withheld ? shaped_notice(event.output, decision.reason) : decision.value}};
    return json::serialize(answer);
  }

  static std::string output(const Event& event, std::string_view member, std::string_view text) {
    return json::serialize(json::object{
        {"hookSpecificOutput", json::object{{"hookEventName", event.name}, {member, text}}}});
  }
};

}  // namespace

const Dialect& claude_code() {
  static const ClaudeCode kOnly;
  return kOnly;
}

}  // namespace sallyport::hook
