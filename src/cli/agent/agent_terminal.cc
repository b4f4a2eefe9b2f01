#include "cli/agent/agent_terminal.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>
#include <cstdio>

#include "base/json_members.h"
#include "base/visible_text.h"
#include "core/approval/approval_request.h"
#include "core/approval/doors.h"
#include "people/answer_limits.h"
#include "people/approval_desk.h"
#include "people/approval_items.h"
#include "people/approval_page.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kShownInput = 200;  // columns
constexpr std::size_t kShownResult = 120;
constexpr std::string_view kSameOptions = "with the same --agent, --model and --policy";

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::string visible_lines(std::string_view text) {
  std::string shown;
  while (true) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    while (true) {
      const std::size_t tab = line.find('\t');
      shown += visible(line.substr(0, tab));
      if (tab == std::string_view::npos) break;
      shown += '\t';
      line.remove_prefix(tab + 1);
    }
    if (end == std::string_view::npos) return shown;
    shown += '\n';
    text.remove_prefix(end + 1);
  }
}

AgentTerminal::AgentTerminal(const Context& context, AgentDesk& desk, LineReader* lines)
    : context_(context), desk_(desk), lines_(lines) {}

void AgentTerminal::write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void AgentTerminal::text(std::string_view piece) {
  write(visible_lines(piece));
  if (!piece.empty()) mid_line_ = !piece.ends_with('\n');
}

void AgentTerminal::text_ended() {
  if (std::exchange(mid_line_, false)) write("\n");
}

void AgentTerminal::calling(const Call& call) {
  text_ended();
  const std::string input = visible_json(json::serialize(call.input));
  write(fmt::format("{} {}\n", context_.terminal.paint(Paint::Strong, "> " + visible(call.tool)),
                    context_.terminal.paint(Paint::Faint, shortened(input, kShownInput))));
}

void AgentTerminal::answered(const Call& call, const Answer& answer) {
  const bool good = answer.result.success;
  const std::string shown = shortened(visible(first_line(answer.result.output)), kShownResult);
  write(fmt::format("  {} {}: {}\n", context_.terminal.mark(good), visible(call.tool), shown));
}

void AgentTerminal::note(std::string_view line) {
  text_ended();
  write(context_.terminal.paint(Paint::Doubtful, visible(line)) + "\n");
}

void AgentTerminal::prompt() {
  text_ended();
  write(context_.terminal.paint(Paint::Strong, "you: "));
}

void AgentTerminal::print_end(const agent::RunReport& report) {
  using sessions::RunStatus;
  if (report.status == RunStatus::Finished) return;
  note(fmt::format("{}: {}", sessions::to_string(report.status), report.reason));
  if (report.status == RunStatus::AwaitingApproval) {
    note(fmt::format("when it is answered: sallyport agent resume {}, {}", report.session_id,
                     kSameOptions));
  } else {
    note(
        fmt::format("to continue: sallyport agent resume {}, {}", report.session_id, kSameOptions));
  }
}

// The reviewer at this terminal. Empty: the user of this agent is not a registered reviewer, or the
// call needs a second person (AP-13, AP-17, AP-31).
std::string AgentTerminal::reviewer_of(const core::WaitingCall& call) const {
  if (lines_ == nullptr || call.needs_human) return {};
  const auto& people = desk_.gate().plans().current()->approvals().people;
  return people ? people->of_client(desk_.settings().id) : std::string();
}

void AgentTerminal::asked(const core::WaitingCall& call) {
  text_ended();
  const std::string reviewer = reviewer_of(call);
  if (reviewer.empty()) {
    note(fmt::format("a person is asked: sallyport approvals show {}", call.approval_id));
    return;
  }
  asking_ = true;
  boost::asio::co_spawn(desk_.gate().loop(), ask(call, reviewer), boost::asio::detached);
}

void AgentTerminal::answered() {
  if (std::exchange(asking_, false)) lines_->stop();
}

Async<void> AgentTerminal::ask(core::WaitingCall call, std::string reviewer) {
  Gate& gate = desk_.gate();
  const WallTime now = gate.workspace().clock().wall();
  const Result<ApprovalItem> item = approval_item(gate.recorder(), call.approval_id, now);
  if (!item || core::kind_of(item->request) != QuestionKind::Approval) {
    note(fmt::format("a person is asked: sallyport approvals show {}", call.approval_id));
    co_return;
  }
  for (const std::string& line : approval_page(*item, {}, false)) write(line + "\n");
  const std::string binding = text_or_empty(item->request, "binding");
  // A person who approves very often, or cannot see the whole command, names the call (AP-43).
  const std::string wanted =
      word_of_yes(recent_approvals(gate.workspace().store(), reviewer, now), item->hidden, binding);
  write(context_.terminal.paint(Paint::Strong,
                                fmt::format("approve as {}? [{}/N] ", visible(reviewer), wanted)));
  lines_->drop_typed();
  const std::optional<std::string> line = co_await lines_->line();
  if (!line || !asking_) {
    write("\n");
    co_return;
  }
  asking_ = false;
  const bool yes = *line == wanted || (wanted == "y" && *line == "yes");
  ApprovalDesk desk({gate.governor().approvals(), gate.recorder(), gate.workspace().clock()});
  const auto given = co_await desk.answer(
      call.approval_id, {.kind = yes ? Reply::Kind::Approved : Reply::Kind::Denied,
                         .by = reviewer,
                         .door = std::string(core::kAgentTerminalDoor),
                         .reason = yes ? "" : "refused at the terminal",
                         .binding = binding});
  if (!given) note(given.error().message);
}

}  // namespace sallyport::app
