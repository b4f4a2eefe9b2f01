#include "app/cli/command_grammar.h"

namespace sallyport::app {

void CommandLine::add_agent() {
  CLI::App& agent = *app_.add_subcommand("agent", "an agent of our own, behind the gates");
  agent.require_subcommand(1);
  add_agent_runs(agent);
  add_agent_sessions(agent);
}

void CommandLine::add_agent_sessions(CLI::App& agent) {
  CLI::App& list = command(agent, "list", "sessions, the newest first", agent_list_, agent_list);
  text(list, "-n,--limit", agent_list_.count, "how many [20]", "N");
  CLI::App& show =
      command(agent, "show", "one session: its runs and background tasks", agent_show_, agent_show);
  text(show, "session", agent_show_.session, "which one", "SESSION")->required();
  show.add_flag("--transcript", agent_show_.transcript,
                "what was said and done instead, a line of JSON for each item");
  CLI::App& cancel =
      command(agent, "cancel", "let the run of a session end now", agent_cancel_, agent_cancel);
  text(cancel, "session", agent_cancel_.session, "which one", "SESSION")->required();
  CLI::App& stop = command(agent, "stop", "let the run of a session end after its round",
                           agent_stop_, agent_stop);
  text(stop, "session", agent_stop_.session, "which one", "SESSION")->required();
}

}  // namespace sallyport::app
