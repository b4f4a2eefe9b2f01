// Codex: the events of Claude Code (`read_named` in members.cc). Codex takes a bare `allow`, an
// `ask` or an unknown member for a failed hook, and runs the call. So answers are minimal.
#include <boost/json.hpp>

#include "hook/dialects.h"
#include "hook/members.h"

namespace sallyport::hook {

namespace {

constexpr HostTool kCodexTools[] = {
    {"local_shell", Tier::Confirm, "process.exec"},
    {"exec_command", Tier::Confirm, "process.exec"},
    {"update_plan", Tier::Observe, "none"},
    {"view_image", Tier::Observe, "none"},
};

constexpr NamedKind kCodexKinds[] = {kClaudeBefore, kClaudeAfter, kClaudePermission, kClaudePrompt,
                                     kClaudeEnd};

class Codex final : public Dialect {
 public:
  std::string_view name() const override { return "codex"; }
  std::span<const HostTool> tools() const override { return kCodexTools; }

  Result<void> read(const json::object& object, Event& event) const override {
    return read_named(event, object, kCodexKinds);
  }

  std::string write(const Event& event, const Decision& decision, const Setting&) const override {
    using enum Decision::Kind;
    if (decision.kind == Allow) return {};
    if (event.kind == Event::Kind::Permission) return dialog_answer(decision);
    // The reason replaces the result.
    if (decision.kind == Replace) return block_answer(as_text(decision.value));
    if (decision.kind == Withhold || event.kind == Event::Kind::Prompt) {
      return block_answer(decision.reason);
    }
    return call_answer(decision.kind == Rewrite ? "allow" : "deny", decision);
  }
};

}  // namespace

const Dialect& codex() {
  static const Codex kOnly;
  return kOnly;
}

}  // namespace sallyport::hook
