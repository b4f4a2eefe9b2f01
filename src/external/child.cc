#include "external/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/try.h"

namespace sallyport::external {

namespace {

// Closes the descriptors that have no owner yet.
class Ends {
 public:
  static Result<Ends> make() {
    SALLYPORT_TRY(const net::Pipe pipe, net::make_pipe());
    return Ends(pipe);
  }
  Ends(Ends&& other) noexcept : pipe_(std::exchange(other.pipe_, {})) {}
  ~Ends() {
    if (pipe_.read_end >= 0) ::close(pipe_.read_end);
    if (pipe_.write_end >= 0) ::close(pipe_.write_end);
  }
  const net::Pipe& pipe() const { return pipe_; }
  int take_read_end() { return std::exchange(pipe_.read_end, -1); }
  int take_write_end() { return std::exchange(pipe_.write_end, -1); }

 private:
  explicit Ends(net::Pipe pipe) : pipe_(pipe) {}
  net::Pipe pipe_;
};

void never_block(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

// A program that does not read its input must not end this process by SIGPIPE, however the process
// handles that signal.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  ~NoBrokenPipeSignal() {
    const timespec now{};
    if (!was_pending_) {
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace

int poll_time(SteadyPoint deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& command,
                                            const net::Confinement& confinement) {
  SALLYPORT_TRY(Ends input, Ends::make());
  SALLYPORT_TRY(Ends output, Ends::make());
  SALLYPORT_TRY(Ends errors, Ends::make());
  SALLYPORT_TRY(const pid_t pid, net::spawn({.arguments = command,
                                             .folder = "/",
                                             .input = input.pipe().read_end,
                                             .output = output.pipe().write_end,
                                             .errors = errors.pipe().write_end,
                                             .confinement = &confinement}));
  return std::unique_ptr<Child>(
      new Child(pid, input.take_write_end(), output.take_read_end(), errors.take_read_end()));
}

Child::Child(pid_t pid, int input, int output, int errors)
    : pid_(pid),
      input_(input),
      output_(output),
      errors_(errors),
      ended_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
  for (const int fd : {input_, output_, errors_}) never_block(fd);
}

Child::~Child() {
  if (!reaped_) (void)finish();
  close_input();
  for (const int fd : {output_, errors_, ended_}) ::close(fd);
}

void Child::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void Child::kill() const {
  ::kill(-pid_, SIGKILL);
}

std::string Child::finish() {
  // Also if it has ended: other processes of its group may still run.
  kill();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

Result<std::size_t> write_some(int to, std::string_view text) {
  const NoBrokenPipeSignal quiet;
  const ssize_t size = ::write(to, text.data(), text.size());
  if (size >= 0) return static_cast<std::size_t>(size);
  if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
  return fail(ErrorCode::Unavailable, "it does not read its input");
}

std::optional<std::string> read_some(int from) {
  char piece[16 * 1024];
  const ssize_t size = ::read(from, piece, sizeof piece);
  if (size > 0) return std::string(piece, static_cast<std::size_t>(size));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::string();
  return std::nullopt;
}

}  // namespace sallyport::external
