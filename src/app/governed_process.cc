#include "app/governed_process.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/try.h"
#include "ledger/store_reader.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostAncestors = 128;

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

struct Process {
  int parent = 0;
  std::string started;  // in ticks since boot
};

// The name in the second field may hold anything, so fields are counted from its end.
std::optional<Process> look_at(int pid) {
  const std::string stat = first_line(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string word;
  Process process;
  fields >> word >> process.parent;
  constexpr int kBetween = 17;  // fields 5 to 21
  for (int i = 0; i < kBetween; ++i) fields >> word;
  fields >> process.started;
  return fields ? std::optional(process) : std::nullopt;
}

std::string key_of(int pid, const Process& process) {
  return fmt::format("{}/{}/{}", first_line("/proc/sys/kernel/random/boot_id"), pid,
                     process.started);
}

Result<std::optional<std::string>> agent_above(Workspace& workspace) {
  ledger::StoreReader records(workspace.store());
  for (const std::string& process : ancestry()) {
    SALLYPORT_TRY(std::optional<std::string> agent, records.fact(kGovernedSpace, process));
    if (agent) return agent;
  }
  return std::nullopt;
}

// On a topic, because the names of control entries are fixed (LE-68).
core::Draft process_entry(std::string_view kind) {
  return {.kind = core::Kind::Topic,
          .topic = "processes",
          .body = {{"kind", kind}, {"process", getpid()}}};
}

}  // namespace

std::optional<std::string> process_key(int pid) {
  const std::optional<Process> process = look_at(pid);
  if (!process) return std::nullopt;
  return key_of(pid, *process);
}

namespace {

// In seconds since 1970; nothing: it cannot be known.
std::optional<long> boot_time() {
  std::ifstream in("/proc/stat");
  std::string word;
  long seconds = 0;
  while (in >> word) {
    if (word == "btime" && in >> seconds) return seconds;
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

std::string start_of(const Process& process) {
  const std::optional<long> boot = boot_time();
  const long ticks = sysconf(_SC_CLK_TCK);
  if (!boot || ticks <= 0) return {};
  const std::time_t at = *boot + std::strtol(process.started.c_str(), nullptr, 10) / ticks;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(at));
}

}  // namespace

std::optional<SeenProcess> see_process(int pid) {
  const std::optional<Process> process = look_at(pid);
  if (!process) return std::nullopt;
  SeenProcess seen{.pid = pid, .key = key_of(pid, *process), .started = start_of(*process)};
  if (!adopts_orphans(process->parent)) seen.parent = process_key(process->parent).value_or("");
  std::error_code code;
  seen.program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), code).string();
  struct stat owner{};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &owner) == 0) seen.uid = owner.st_uid;
  return seen;
}

bool still_runs(const std::string& key) {
  const std::size_t begin = key.find('/');
  const std::size_t end = key.find('/', begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return false;
  int pid = 0;
  const char* const first = key.data() + begin + 1;
  if (std::from_chars(first, key.data() + end, pid).ec != std::errc()) return false;
  return process_key(pid) == key;
}

std::optional<int> parent_of_shell(int pid) {
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string program;
  std::string option;
  std::getline(in, program, '\0');
  std::getline(in, option, '\0');
  const std::string name = program.substr(program.rfind('/') + 1);
  const bool shell = name == "sh" || name == "bash" || name == "dash" || name == "zsh";
  // `-c`, `-lc`: one with an own command line is somebody's terminal.
  const bool command = option.size() > 1 && option[0] == '-' && option.ends_with('c');
  const std::optional<Process> process = shell && command ? look_at(pid) : std::nullopt;
  if (!process || process->parent <= 1) return std::nullopt;
  return process->parent;
}

// Which process is a subreaper cannot be asked from outside; the one that people have is known by
// its name.
bool adopts_orphans(int pid) {
  return pid <= 1 || first_line(fmt::format("/proc/{}/comm", pid)) == "systemd";
}

std::optional<int> host_of_hook(int pid) {
  const std::optional<Process> hook = look_at(pid);
  if (!hook) return std::nullopt;
  const int host = parent_of_shell(hook->parent).value_or(hook->parent);
  if (adopts_orphans(host)) return std::nullopt;
  return host;
}

std::vector<std::string> ancestry() {
  std::vector<std::string> keys;
  for (int pid = getpid(); pid > 0 && keys.size() < kMostAncestors;) {
    const std::optional<Process> process = look_at(pid);
    if (!process) break;
    keys.push_back(key_of(pid, *process));
    pid = process->parent;
  }
  return keys;
}

core::Fact governs(int pid, const std::string& agent) {
  return {std::string(kGovernedSpace), process_key(pid).value_or(fmt::format("gone/{}", pid)),
          agent};
}

std::optional<core::Fact> governs_no_more(int pid) {
  std::optional<std::string> key = process_key(pid);
  if (!key) return std::nullopt;
  return core::Fact{std::string(kGovernedSpace), std::move(*key), std::nullopt};
}

Result<void> govern_this_process(ledger::Ledger& ledger, const std::string& agent) {
  if (setenv("SALLYPORT_AGENT", agent.c_str(), 1) != 0) {
    return fail(ErrorCode::Internal, "the environment cannot be changed");
  }
  SALLYPORT_CHECK_OK(ledger.transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
    core::Draft draft = process_entry("governed");
    draft.subject.agent_id = agent;
    draft.facts.push_back(governs(getpid(), agent));
    return std::vector{std::move(draft)};
  }));
  return {};
}

Result<void> govern_no_more(ledger::Ledger& ledger) {
  const std::optional<core::Fact> fact = governs_no_more(getpid());
  if (!fact) return {};
  SALLYPORT_CHECK_OK(ledger.transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
    core::Draft draft = process_entry("governed_no_more");
    draft.facts.push_back(*fact);
    return std::vector{std::move(draft)};
  }));
  return {};
}

Result<void> refuse_agents(const Context& context, std::string_view command) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  std::error_code code;
  const bool has_ledger = std::filesystem::exists(place.ledger_file(), code);
  std::optional<std::string> agent = context.environment.agent;
  if (!agent && has_ledger) {
    SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
    SALLYPORT_TRY(agent, agent_above(*workspace));
  }
  if (!agent) return {};
  if (has_ledger) {
    SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
    SALLYPORT_CHECK_OK(
        workspace->ledger().transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
          return std::vector{ledger::control(
              "refused_control", {{"who", who_runs_this()}, {"agent", *agent}, {"what", command}})};
        }));
  }
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("`sallyport {}` is for people: this process was started by agent `{:.60}`",
                  command, *agent));
}

}  // namespace sallyport::app
