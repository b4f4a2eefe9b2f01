#include "net/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>

#include "base/try.h"

namespace sallyport::net {

namespace asio = boost::asio;

namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::Unavailable, fmt::format("pipe: {}", std::strerror(errno)));
  }
  return Pipe{ends[0], ends[1]};
}

// In the child, between fork and exec: only calls that a signal handler could make.
[[noreturn]] void become(char* const* arguments, const char* folder, int output, int failure,
                         pid_t parent) {
  // A gate that is killed must not leave tools running behind it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0 &&
      (folder == nullptr || chdir(folder) == 0)) {
    execvp(arguments[0], arguments);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(failure, &error, sizeof error);
  _exit(127);
}

// Its own process group, so that what it starts dies with it.
Result<pid_t> spawn(const ProcessSpec& spec, const Pipe& output) {
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
    become(arguments.data(), folder.empty() ? nullptr : folder.c_str(), output.write_end,
           failure.write_end, parent);
  }
  int error = pid < 0 ? errno : 0;
  ::close(failure.write_end);
  if (pid > 0 && ::read(failure.read_end, &error, sizeof error) > 0) waitpid(pid, nullptr, 0);
  ::close(failure.read_end);
  if (error == 0) return pid;
  return fail(ErrorCode::Unavailable,
              fmt::format("`{}` cannot be started: {}", spec.arguments[0], std::strerror(error)));
}

// Kills the group and reaps the child, whatever becomes of the coroutine that runs it.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill_group();
    waitpid(pid_, nullptr, 0);
  }
  void kill_group() const { ::kill(-pid_, SIGKILL); }
  int reap() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_;
};

}  // namespace

Task<ProcessResult> run_process(ProcessSpec spec, std::stop_token cancel) {
  const auto executor = co_await asio::this_coro::executor;
  if (spec.arguments.empty()) co_return fail(ErrorCode::InvalidInput, "no program is named");
  SALLYPORT_CO_TRY(const Pipe pipe, make_pipe());
  asio::posix::stream_descriptor output(executor, pipe.read_end);
  Result<pid_t> pid = spawn(spec, pipe);
  ::close(pipe.write_end);
  if (!pid) co_return std::unexpected(pid.error());
  Child child(*pid);
  ProcessResult result;
  {
    // INVARIANT: nothing reaps the child while the callback may run, or a kill could meet a
    // stranger that got the same number.
    const std::stop_callback on_cancel(cancel, [&child] { child.kill_group(); });
    std::array<char, 16384> buffer;
    while (true) {
      const auto [error, size] = co_await output.async_read_some(
          asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
      if (error) break;
      const std::size_t room = spec.max_output - result.output.size();
      result.output.append(buffer.data(), std::min(size, room));
      result.truncated = result.truncated || size > room;
    }
    // It may close its output long before it ends.
    asio::posix::stream_descriptor ended(executor,
                                         static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
    co_await ended.async_wait(asio::posix::stream_descriptor::wait_read,
                              asio::as_tuple(asio::use_awaitable));
  }
  const int status = child.reap();
  if (cancel.stop_requested()) co_return fail(ErrorCode::Cancelled, "the process was killed");
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  co_return result;
}

}  // namespace sallyport::net
