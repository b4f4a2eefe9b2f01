// Finds out whether an agent started this process. Such a process must not answer for people
// (AP-29): fronts record the processes that they govern, and commands check their ancestors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/record/draft.h"
#include "workspace/context.h"

namespace sallyport::app {

inline constexpr std::string_view kGovernedSpace = "governed_process";

// Names one process of this machine for as long as it runs: boot, PID namespace, number in it and
// start time, so that it is the same seen from every namespace around its own. No value: there is
// no such process, or /proc does not show it.
std::optional<std::string> process_key(int pid);

// The visible properties of a process.
struct SeenProcess {
  int pid = 0;
  std::string key{};      // as `process_key` names it
  std::string parent{};   // the key of its parent; empty: the parent is gone or adopts orphans
  std::string program{};  // the file it runs; empty: not to be seen
  std::string started{};  // RFC 3339, to the second
  std::optional<unsigned> uid{};
};
std::optional<SeenProcess> see_process(int pid);

// True if the process still runs.
bool still_runs(const std::string& process_key);

// The parent of a shell that runs one command (`sh -c ...`). No value: it is not such a shell.
std::optional<int> parent_of_shell(int pid);

// True for a process that adopts orphans. All processes of a machine or of a login descend from
// such a process, people's too.
bool adopts_orphans(int pid);

// The process that runs an agent, seen from its hook: some hosts put a shell in between. No value:
// it is gone, and the process that adopted the hook is not an agent.
std::optional<int> host_of_hook(int pid);

// This process and its ancestors, as far as /proc shows them, nearest first. `Unauthenticated`: the
// chain of parents does not end.
Result<std::vector<std::string>> ancestry();

// Facts for any entry of a front that starts to govern a process, or stops.
core::Fact governs(int pid, const std::string& agent);
std::optional<core::Fact> unregistered_process(int pid);

// For a front that is its own process: from now on the ledger and the environment mark it and its
// children as `agent`'s.
Result<void> register_process(ledger::Ledger& ledger, const std::string& agent);
// Before it ends. Numbers of processes are used again, but never with the same start.
Result<void> unregister_process(ledger::Ledger& ledger);

// `Unauthenticated`: an agent's process is among the ancestors, the environment names an agent, or
// agents are known and the ancestors cannot be seen. The attempt of `command` is then recorded.
Result<void> refuse_agents(const Context& context, std::string_view command);

}  // namespace sallyport::app
