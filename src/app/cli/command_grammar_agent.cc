#include "app/cli/command_grammar.h"

namespace sallyport::app {

void CommandLine::add_agent_options(CLI::App& sub, AgentOptions& options) {
  file(sub, "--agent", options.agent, "its configuration [a plain one, in this folder]");
  text(sub, "--model", options.model, "as anthropic/NAME, openai/NAME or script:FILE", "MODEL");
  text(sub, "--base-url", options.base_url, "of the model's API [its provider's]", "URL");
  text(sub, "--policy", options.policy, "a file, or a shipped one by its name [ask-before-effects]",
       "POLICY");
}

void CommandLine::add_agent_runs(CLI::App& agent) {
  CLI::App& run = command(agent, "run", "let it do one task", agent_run_, agent_run);
  text(run, "task", agent_run_.task, "what it shall do", "TASK")->required();
  add_agent_options(run, agent_run_.agent);
  text(run, "--session", agent_run_.session, "begin or go on with this one [a new one]", "SESSION");
  run.add_flag("--park", agent_run_.agent.park,
               "end where a person is asked; `agent resume` goes on");

  CLI::App& chat = command(agent, "chat", "talk with it at the terminal", agent_chat_, agent_chat);
  add_agent_options(chat, agent_chat_.agent);
  text(chat, "--session", agent_chat_.session, "begin or go on with this one [a new one]",
       "SESSION");

  CLI::App& resume =
      command(agent, "resume", "go on with what a session has open", agent_resume_, agent_resume);
  text(resume, "session", agent_resume_.session, "which one", "SESSION")->required();
  add_agent_options(resume, agent_resume_.agent);
  text(resume, "--message", agent_resume_.message, "and say this to it", "TEXT");
  resume.add_flag("--park", agent_resume_.agent.park,
                  "end where a person is asked; `agent resume` goes on");
}

}  // namespace sallyport::app
