#include "net/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/try.h"

namespace sallyport::net {

namespace {

bool connect_streams(const SpawnSpec& spec) {
  const int input = spec.input >= 0 ? spec.input : ::open("/dev/null", O_RDONLY);
  return input >= 0 && dup2(input, 0) >= 0 && dup2(spec.output, 1) >= 0 &&
         dup2(spec.errors, 2) >= 0;
}

// In the child, between fork and exec: only calls that a signal handler could make.
[[noreturn]] void become(char* const* arguments, const char* folder, const SpawnSpec& spec,
                         int failure, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  // What this program ignores is none of the other's business.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  if (connect_streams(spec) && (folder == nullptr || chdir(folder) == 0)) {
    execvp(arguments[0], arguments);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(failure, &error, sizeof error);
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
  std::vector<char*> arguments;
  for (const std::string& argument : spec.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const std::string folder = spec.folder.string();
  SALLYPORT_TRY(const Pipe failure, make_pipe());  // closes by itself when exec works
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    become(arguments.data(), folder.empty() ? nullptr : folder.c_str(), spec, failure.write_end,
           parent);
  }
  int error = pid < 0 ? errno : 0;
  ::close(failure.write_end);
  if (pid > 0 && ::read(failure.read_end, &error, sizeof error) > 0) waitpid(pid, nullptr, 0);
  ::close(failure.read_end);
  if (error == 0) return pid;
  return fail(ErrorCode::Unavailable,
              fmt::format("`{}` cannot be started: {}", spec.arguments[0], std::strerror(error)));
}

}  // namespace sallyport::net
