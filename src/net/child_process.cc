#include "net/child_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/try.h"

namespace sallyport::net {

namespace asio = boost::asio;

namespace {

// Closes the descriptors that have no owner yet.
class Ends {
 public:
  explicit Ends(Pipe pipe) : pipe_(pipe) {}
  Ends(const Ends&) = delete;
  ~Ends() {
    if (pipe_.read_end >= 0) ::close(pipe_.read_end);
    if (pipe_.write_end >= 0) ::close(pipe_.write_end);
  }
  int read_end() const { return pipe_.read_end; }
  int write_end() const { return pipe_.write_end; }
  int take_read_end() { return std::exchange(pipe_.read_end, -1); }
  int take_write_end() { return std::exchange(pipe_.write_end, -1); }

 private:
  Pipe pipe_;
};

}  // namespace

std::string ExitStatus::text() const {
  return signal != 0 ? fmt::format("signal {}", signal) : fmt::format("exit code {}", code);
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(asio::any_io_executor executor,
                                                          const std::vector<std::string>& arguments,
                                                          const std::optional<RunAs>& run_as) {
  SALLYPORT_TRY(const Pipe input_pipe, make_pipe());
  Ends input(input_pipe);
  SALLYPORT_TRY(const Pipe output_pipe, make_pipe());
  Ends output(output_pipe);
  SALLYPORT_TRY(const Pipe errors_pipe, make_pipe());
  Ends errors(errors_pipe);
  SALLYPORT_TRY(const pid_t pid, spawn({.arguments = arguments,
                                        .input = input.read_end(),
                                        .output = output.write_end(),
                                        .errors = errors.write_end(),
                                        .run_as = run_as}));
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(std::move(executor), pid, input.take_write_end(), output.take_read_end(),
                       errors.take_read_end()));
}

ChildProcess::ChildProcess(asio::any_io_executor executor, pid_t pid, int input, int output,
                           int errors)
    : pid_(pid),
      input_(executor, input),
      output_(executor, output),
      errors_(executor, errors),
      ended_(executor, static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
      timer_(executor) {
  input_.native_non_blocking(true);
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Async<bool> ChildProcess::wait(std::chrono::milliseconds longest) {
  using namespace asio::experimental::awaitable_operators;
  if (pid_ <= 0) co_return true;
  timer_.expires_after(longest);
  co_await (ended_.async_wait(Stream::wait_read, asio::as_tuple(asio::use_awaitable)) ||
            timer_.async_wait(asio::as_tuple(asio::use_awaitable)));
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  co_return info.si_pid == pid_;
}

Async<ExitStatus> ChildProcess::stop(std::chrono::milliseconds patience) {
  boost::system::error_code ignored;
  input_.close(ignored);
  bool ended = co_await wait(patience);
  if (!ended) {
    ::kill(-pid_, SIGTERM);
    ended = co_await wait(patience);
  }
  // Also if it has ended: other processes of its group may still run.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  ExitStatus exit;
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  co_return exit;
}

}  // namespace sallyport::net
