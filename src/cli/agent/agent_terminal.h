// A run as a person at a terminal sees it: text as it streams, calls as they happen, and questions
// about them, answered there where that person is registered to answer (AP-31).
#pragma once

#include <string>

#include "agent/run/run.h"
#include "app/agents/agent_desk.h"
#include "cli/terminal/line_reader.h"
#include "core/approval/attendant.h"
#include "workspace/context.h"

namespace sallyport::app {

// On the loop of the desk, which outlives it.
class AgentTerminal final : public agent::RunView, public core::Attendant {
 public:
  // `lines` null: no person at this keyboard may answer, and questions are answered elsewhere.
  AgentTerminal(const Context& context, AgentDesk& desk, LineReader* lines);

  void text(std::string_view piece) override;
  void text_ended() override;
  void calling(const Call& call) override;
  void answered(const Call& call, const Answer& answer) override;
  void note(std::string_view line) override;

  void asked(const core::WaitingCall& call) override;
  void answered() override;
  bool away() const override { return false; }

  void prompt();  // for the next message
  // How the run ended, where a person wants to know more than its text.
  void print_end(const agent::RunReport& report);

 private:
  void write(std::string_view text);
  std::string reviewer_of(const core::WaitingCall& call) const;
  Async<void> ask(core::WaitingCall call, std::string reviewer);

  const Context& context_;
  AgentDesk& desk_;
  LineReader* lines_;
  bool mid_line_ = false;
  bool asking_ = false;
};

// Several lines: each without characters that hide or move others.
std::string visible_lines(std::string_view text);

}  // namespace sallyport::app
