#include "net/process.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.h"
#include "net/spawn.h"

namespace sallyport::net {

namespace asio = boost::asio;

namespace {

// Kills the group and reaps the child, however its coroutine ends.
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
  SALLYPORT_CO_TRY(const Pipe pipe, make_pipe());
  asio::posix::stream_descriptor output(executor, pipe.read_end);
  Result<pid_t> pid = spawn({.arguments = spec.arguments,
                             .folder = spec.folder,
                             .output = pipe.write_end,
                             .errors = pipe.write_end});
  ::close(pipe.write_end);
  if (!pid) co_return std::unexpected(pid.error());
  Child child(*pid);
  ProcessResult result;
  {
    // INVARIANT: nothing reaps the child while the callback may run, or a kill could hit another
    // process with the same pid.
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
    // The process may close its output long before it ends.
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
