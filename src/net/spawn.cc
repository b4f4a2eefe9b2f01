#include "net/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/try.h"

namespace sallyport::net {

namespace {

bool connect_streams(const SpawnSpec& spec) {
  const int input = spec.input >= 0 ? spec.input : ::open("/dev/null", O_RDONLY);
  return input >= 0 && dup2(input, 0) >= 0 && dup2(spec.output, 1) >= 0 &&
         dup2(spec.errors, 2) >= 0;
}

constexpr std::size_t kCapabilityWords = 2;  // of version 3

bool may_switch_accounts() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[kCapabilityWords]{};
  if (syscall(SYS_capget, &head, held) != 0) return false;
  constexpr __u32 kNeeded = 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_KILL;
  return (held[0].effective & kNeeded) == kNeeded;
}

// A switch between two accounts other than root keeps capabilities, so they are dropped explicitly.
bool switch_account(const RunAs& account) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[kCapabilityWords]{};
  return syscall(SYS_setgroups, account.groups.size(), account.groups.data()) == 0 &&
         syscall(SYS_setresgid, account.gid, account.gid, account.gid) == 0 &&
         syscall(SYS_setresuid, account.uid, account.uid, account.uid) == 0 &&
         prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
         syscall(SYS_capset, &head, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool enter_folder(const char* folder, const SpawnSpec& spec) {
  if (folder != nullptr) return chdir(folder) == 0;
  return !spec.run_as || chdir(spec.run_as->home.c_str()) == 0 || chdir("/") == 0;
}

// Made before the fork, because only async-signal-safe calls are allowed between fork and exec.
std::vector<std::string> environment_of(const RunAs& account) {
  std::vector<std::string> out{"HOME=" + account.home, "USER=" + account.user,
                               "LOGNAME=" + account.user};
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view variable(*at);
    const std::string_view name = variable.substr(0, variable.find('='));
    // Variables with folders of our account would mislead a program of another one.
    const bool replaced = name == "HOME" || name == "USER" || name == "LOGNAME" ||
                          name == "SHELL" || name == "MAIL" || name.starts_with("XDG_") ||
                          name.ends_with("_DIRECTORY") || name == "SALLYPORT_DATA_DIR";
    if (!replaced) out.emplace_back(variable);
  }
  return out;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

bool keep_capabilities(std::uint64_t kept) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[kCapabilityWords]{};
  if (syscall(SYS_capget, &head, held) != 0) return false;
  for (std::size_t i = 0; i < kCapabilityWords; ++i) {
    const auto word = static_cast<__u32>(kept >> (32 * i));
    held[i].effective &= word;
    held[i].permitted &= word;
    held[i].inheritable &= word;
  }
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
         syscall(SYS_capset, &head, held) == 0;
}

// The filter comes last, because it may forbid calls that the other steps need.
bool enter(const Cage& cage) {
  if (!keep_capabilities(cage.capabilities)) return false;
  if (cage.ruleset >= 0 && syscall(SYS_landlock_restrict_self, cage.ruleset, 0u) != 0) return false;
  if (cage.filter.empty()) return true;
  const sock_fprog program{static_cast<unsigned short>(cage.filter.size()),
                           const_cast<sock_filter*>(cage.filter.data())};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

bool confine(const Confinement& confinement) {
  for (const ProcessLimit& limit : confinement.limits) {
    rlimit now{};
    const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
    if (getrlimit(resource, &now) != 0) return false;
    const rlim_t most = std::min<rlim_t>(limit.most, now.rlim_max);
    const rlimit then{most, most};
    if (setrlimit(resource, &then) != 0) return false;
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         (confinement.cage == nullptr || enter(*confinement.cage));
}

// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* arguments, char* const* environment, const char* folder,
                         const SpawnSpec& spec, int failure, pid_t parent) {
  const bool switched = !spec.run_as || switch_account(*spec.run_as);
  // After the account switch, which resets it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  // A new session has no terminal, so a confined program cannot type in place of a person.
  if (spec.confinement != nullptr) {
    setsid();
  } else {
    setpgid(0, 0);
  }
  // Signals that this program ignores are reset for the other one.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  sigset_t nothing;
  sigemptyset(&nothing);
  sigprocmask(SIG_SETMASK, &nothing, nullptr);
  const bool strict = spec.run_as || spec.confinement != nullptr;
  if (switched && connect_streams(spec) && enter_folder(folder, spec) &&
      (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) == 0 || !strict) &&
      (spec.confinement == nullptr || confine(*spec.confinement))) {
    if (spec.confinement != nullptr) {
      execve(arguments[0], arguments, environment);
    } else {
      execvpe(arguments[0], arguments, environment);
    }
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t reported = ::write(failure, &error, sizeof error);
  _exit(127);
}

}  // namespace

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::Unavailable, fmt::format("pipe: {}", std::strerror(errno)));
  }
  return Pipe{ends[0], ends[1]};
}

Result<pid_t> spawn(const SpawnSpec& spec) {
  if (spec.arguments.empty()) return fail(ErrorCode::InvalidInput, "no program is named");
  if (spec.run_as && !may_switch_accounts()) {
    return fail(ErrorCode::Unavailable,
                fmt::format("`{}` cannot be started as `{}`: this process may not switch accounts; "
                            "give it CAP_SETUID, CAP_SETGID and CAP_KILL, as the unit of "
                            "`sallyport setup --system` does",
                            spec.arguments[0], spec.run_as->user));
  }
  const std::vector<char*> arguments = pointers_to(spec.arguments);
  const bool own_environment = spec.run_as || spec.confinement != nullptr;
  std::vector<std::string> variables;
  if (spec.run_as) variables = environment_of(*spec.run_as);
  if (spec.confinement != nullptr) variables = spec.confinement->environment;
  const std::vector<char*> environment = pointers_to(variables);
  const std::string folder = spec.folder.string();
  SALLYPORT_TRY(const Pipe failure, make_pipe());  // closed by a successful exec
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    become(arguments.data(), own_environment ? environment.data() : environ,
           folder.empty() ? nullptr : folder.c_str(), spec, failure.write_end, parent);
  }
  int error = pid < 0 ? errno : 0;
  ::close(failure.write_end);
  if (pid > 0 && ::read(failure.read_end, &error, sizeof error) > 0) waitpid(pid, nullptr, 0);
  ::close(failure.read_end);
  if (error == 0) return pid;
  return fail(ErrorCode::Unavailable,
              fmt::format("`{}` cannot be started{}: {}", spec.arguments[0],
                          spec.run_as ? fmt::format(" as `{}`", spec.run_as->user) : "",
                          std::strerror(error)));
}

}  // namespace sallyport::net
