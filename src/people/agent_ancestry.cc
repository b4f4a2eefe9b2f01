#include "people/agent_ancestry.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "base/try.h"
#include "ledger/member/instance_lock.h"
#include "ledger/read/store_reader.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostAncestors = 1u << 22;  // more processes than a machine can have
constexpr int kTries = 16;
constexpr std::string_view kInitialSpace = "4026531836";  // of the machine itself

// A file of the kernel's own /proc. Empty: it cannot be read, or something else was put in its
// place, which a process in a mount namespace of its own can do.
std::string proc_file(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct statfs where{};
  std::string text;
  if (::fstatfs(fd, &where) == 0 && where.f_type == PROC_SUPER_MAGIC) {
    char part[4096];
    for (ssize_t got = 0; (got = ::read(fd, part, sizeof part)) > 0;) {
      text.append(part, static_cast<std::size_t>(got));
    }
  }
  ::close(fd);
  return text;
}

std::string boot_id() {
  const std::string text = proc_file("/proc/sys/kernel/random/boot_id");
  return text.substr(0, text.find('\n'));
}

// The inode of a PID namespace, from a link that says `pid:[4026531836]`.
std::optional<std::string> space_in(const std::string& process) {
  std::array<char, 64> text{};
  const ssize_t length =
      ::readlink(fmt::format("/proc/{}/ns/pid", process).c_str(), text.data(), text.size());
  const std::string_view link(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  if (!link.starts_with("pid:[") || !link.ends_with(']')) return std::nullopt;
  return std::string(link.substr(5, link.size() - 6));
}

// The numbers of a process, from the namespace of this /proc to its own.
std::vector<int> numbers_of(const std::string& process) {
  const std::string status = proc_file(fmt::format("/proc/{}/status", process));
  const std::size_t line = status.find("\nNSpid:");
  std::vector<int> numbers;
  if (line == std::string::npos) return numbers;
  std::istringstream words(status.substr(line + 7, status.find('\n', line + 1) - line - 7));
  for (int number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

// The PID namespace that this /proc shows. It is our own, unless /proc is that of one around ours.
std::optional<std::string> shown_space() {
  if (numbers_of("self").size() <= 1) return space_in("self");
  return space_in("1");
}

struct Process {
  int number = 0;  // in this /proc
  int parent = 0;
  std::string started{};  // in ticks since boot
  int inner = 0;          // in its own namespace
  std::string space{};    // its own PID namespace
};

// The name in the second field may hold anything, so fields are counted from its end.
std::optional<Process> look_at(const std::string& name) {
  const std::string stat = proc_file(fmt::format("/proc/{}/stat", name));
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  Process process;
  std::istringstream(stat) >> process.number;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string word;
  fields >> word >> process.parent;
  constexpr int kBetween = 17;  // fields 5 to 21
  for (int i = 0; i < kBetween; ++i) fields >> word;
  fields >> process.started;
  if (!fields) return std::nullopt;
  const std::vector<int> numbers = numbers_of(name);
  process.inner = numbers.empty() ? process.number : numbers.back();
  const std::optional<std::string> space = numbers.size() > 1 ? space_in(name) : shown_space();
  if (!space) return std::nullopt;
  process.space = *space;
  return process;
}

std::optional<Process> look_at(int pid) {
  std::optional<Process> process = look_at(std::to_string(pid));
  // The file is that of another process.
  if (process && process->number != pid) return std::nullopt;
  return process;
}

std::string key_of(const Process& process) {
  return fmt::format("{}/{}/{}/{}", boot_id(), process.space, process.inner, process.started);
}

// One pass from this process to the top. No value: a process ended meanwhile or cannot be seen.
std::optional<std::vector<std::string>> walk_up() {
  std::vector<std::string> keys;
  std::optional<Process> process = look_at("self");
  while (process && keys.size() < kMostAncestors) {
    keys.push_back(key_of(*process));
    if (process->parent <= 0) return keys;
    process = look_at(process->parent);
  }
  return std::nullopt;
}

std::unexpected<Error> unseen(std::string_view why) {
  return fail(ErrorCode::Unauthenticated,
              fmt::format("whether an agent started this process cannot be seen: {}; run the "
                          "command where the processes of agents run, or answer over HTTP",
                          why));
}

// `agent`, and behind a line end the ledger instance that governs for as long as it lives.
struct Governed {
  std::string agent{};
  std::string instance{};
};

Governed governed_in(const std::string& value) {
  const std::size_t end = value.find('\n');
  return {value.substr(0, end), end == std::string::npos ? "" : value.substr(end + 1)};
}

// The agent among the ancestors of this process. `Unauthenticated`: they cannot be seen.
Result<std::optional<std::string>> agent_above(Workspace& workspace) {
  ledger::StoreReader records(workspace.store());
  SALLYPORT_TRY(const std::vector<core::Fact> all, records.facts(kGovernedSpace));
  const std::string boot = boot_id() + "/";
  std::map<std::string, std::string, std::less<>> governed;  // of this boot
  for (const core::Fact& fact : all) {
    if (boot == "/" || fact.key.starts_with(boot)) governed[fact.key] = fact.value.value_or("");
  }
  if (governed.empty()) return std::nullopt;
  if (boot == "/") return unseen("/proc is not that of this machine");
  SALLYPORT_TRY(const std::vector<std::string> keys, ancestry());
  for (const std::string& process : keys) {
    const auto found = governed.find(process);
    if (found != governed.end()) return governed_in(found->second).agent;
  }
  const std::optional<std::string> here = shown_space();
  if (here == kInitialSpace) return std::nullopt;
  // Above the first process of a namespace nothing can be seen: an agent may be there, unless all
  // agents live in here.
  for (const auto& [key, value] : governed) {
    const std::string rest = key.substr(boot.size());
    const std::string instance = governed_in(value).instance;
    const bool gone =
        !instance.empty() && !ledger::InstanceLock::alive(workspace.place().data_dir, instance);
    if (gone || rest.substr(0, rest.find('/')) == here) continue;
    return unseen("this is another PID namespace than that of the agents");
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
  return key_of(*process);
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
  SeenProcess seen{.pid = pid, .key = key_of(*process), .started = start_of(*process)};
  if (!adopts_orphans(process->parent)) seen.parent = process_key(process->parent).value_or("");
  std::error_code code;
  seen.program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), code).string();
  struct stat owner{};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &owner) == 0) seen.uid = owner.st_uid;
  return seen;
}

// A key has the number that the process has in its own namespace, so all that this /proc shows are
// compared. Called only when another process reports the result of a call.
bool still_runs(const std::string& key) {
  std::error_code code;
  for (const auto& shown : std::filesystem::directory_iterator("/proc", code)) {
    const std::string name = shown.path().filename().string();
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    const bool number = error == std::errc() && end == name.data() + name.size();
    if (number && process_key(pid) == key) return true;
  }
  return false;
}

std::optional<int> parent_of_shell(int pid) {
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string program;
  std::string option;
  std::getline(in, program, '\0');
  std::getline(in, option, '\0');
  const std::string name = program.substr(program.rfind('/') + 1);
  const bool shell = name == "sh" || name == "bash" || name == "dash" || name == "zsh";
  // `-c`, `-lc`: a shell without such an option is a user's terminal.
  const bool command = option.size() > 1 && option[0] == '-' && option.ends_with('c');
  const std::optional<Process> process = shell && command ? look_at(pid) : std::nullopt;
  if (!process || process->parent <= 1) return std::nullopt;
  return process->parent;
}

// Whether a process is a subreaper cannot be read from outside; that of a login session is known by
// its name.
bool adopts_orphans(int pid) {
  return pid <= 1 || proc_file(fmt::format("/proc/{}/comm", pid)) == "systemd\n";
}

std::optional<int> host_of_hook(int pid) {
  const std::optional<Process> hook = look_at(pid);
  if (!hook) return std::nullopt;
  const int host = parent_of_shell(hook->parent).value_or(hook->parent);
  if (adopts_orphans(host)) return std::nullopt;
  return host;
}

Result<std::vector<std::string>> ancestry() {
  for (int tried = 0; tried < kTries; ++tried) {
    if (std::optional<std::vector<std::string>> keys = walk_up()) return std::move(*keys);
  }
  return unseen("/proc does not show all processes above it");
}

core::Fact governs(int pid, const std::string& agent) {
  return {std::string(kGovernedSpace), process_key(pid).value_or(fmt::format("gone/{}", pid)),
          agent};
}

std::optional<core::Fact> unregistered_process(int pid) {
  std::optional<std::string> key = process_key(pid);
  if (!key) return std::nullopt;
  return core::Fact{std::string(kGovernedSpace), std::move(*key), std::nullopt};
}

Result<void> register_process(ledger::Ledger& ledger, const std::string& agent) {
  if (setenv("SALLYPORT_AGENT", agent.c_str(), 1) != 0) {
    return fail(ErrorCode::Internal, "the environment cannot be changed");
  }
  SALLYPORT_CHECK_OK(ledger.transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
    core::Draft draft = process_entry("governed");
    draft.subject.set(&Subject::agent_id, agent);
    draft.facts.push_back(governs(getpid(), fmt::format("{}\n{}", agent, ledger.instance_id())));
    return std::vector{std::move(draft)};
  }));
  return {};
}

Result<void> unregister_process(ledger::Ledger& ledger) {
  const std::optional<core::Fact> fact = unregistered_process(getpid());
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
  const Result<std::unique_ptr<Workspace>> reading = Workspace::open_reading(place);
  // A folder without a ledger, or with an emptied one, knows no agents. The command itself says
  // what is wrong with it.
  const bool has_ledger = reading || reading.error().code != ErrorCode::NotFound;
  if (has_ledger && !reading) return std::unexpected(reading.error());
  Result<std::optional<std::string>> agent = context.environment.agent;
  if (!*agent && has_ledger) agent = agent_above(**reading);
  if (agent && !*agent) return {};
  if (!agent && agent.error().code != ErrorCode::Unauthenticated) {
    return std::unexpected(agent.error());
  }
  if (has_ledger) {
    SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
    SALLYPORT_CHECK_OK(
        workspace->ledger().transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
          json::object attempt{{"who", running_user()}, {"what", command}};
          if (agent) attempt["agent"] = **agent;
          if (!agent) attempt["cause"] = agent.error().message;
          return std::vector{ledger::control("refused_control", std::move(attempt))};
        }));
  }
  if (!agent) return std::unexpected(agent.error());
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("`sallyport {}` is for people: this process was started by agent `{:.60}`; run "
                  "it in a terminal that no agent started",
                  command, **agent));
}

}  // namespace sallyport::app
