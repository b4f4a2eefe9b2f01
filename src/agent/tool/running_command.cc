#include "agent/tool/running_command.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>

#include "base/descriptor.h"
#include "base/together.h"
#include "base/try.h"

namespace sallyport::agent {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::size_t kBite = 64 * 1024;
constexpr std::size_t kLastBites = 32;  // after the command's end; descendants may still write

struct OwnedPipe {
  Descriptor read_end;
  Descriptor write_end;
};

Result<OwnedPipe> owned_pipe() {
  SALLYPORT_TRY(const net::Pipe pipe, net::make_pipe());
  return OwnedPipe{Descriptor(pipe.read_end), Descriptor(pipe.write_end)};
}

}  // namespace

RunningCommand::RunningCommand(const asio::any_io_executor& executor, std::size_t kept)
    : kept_(kept), ended_(executor), timer_(executor) {
  streams_.reserve(2);
  for (int i = 0; i < 2; ++i) streams_.emplace_back(executor);
}

RunningCommand::~RunningCommand() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Result<std::shared_ptr<RunningCommand>> RunningCommand::start(asio::any_io_executor executor,
                                                              const CommandSpec& spec) {
  std::shared_ptr<RunningCommand> command(new RunningCommand(executor, spec.kept));
  SALLYPORT_CHECK_OK(command->begin(spec));
  return command;
}

Result<void> RunningCommand::begin(const CommandSpec& spec) {
  SALLYPORT_TRY(OwnedPipe output, owned_pipe());
  SALLYPORT_TRY(OwnedPipe errors, owned_pipe());
  const net::Confinement confinement{
      .environment = spec.environment, .limits = {{RLIMIT_CORE, 0}}, .cage = spec.cage};
  const std::vector<std::string> arguments{"/bin/sh", "-c", spec.command};
  SALLYPORT_TRY(pid_,
                net::spawn({.arguments = arguments,
                            // The checked folder itself, even if its name now leads elsewhere.
                            .folder = fmt::format("/proc/self/fd/{}", spec.folder),
                            .output = output.write_end.get(),
                            .errors = (spec.one_stream ? output : errors).write_end.get(),
                            .confinement = &confinement}));
  Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!ended) {
    return fail(ErrorCode::Unavailable,
                fmt::format("the command cannot be watched: {}", std::strerror(errno)));
  }
  ended_.assign(ended.release());
  streams_[0].from.assign(output.read_end.release());
  streams_[1].from.assign(errors.read_end.release());
  for (Stream& stream : streams_) stream.from.native_non_blocking(true);
  return {};
}

Async<CommandEnd> RunningCommand::run(std::chrono::milliseconds longest) {
  std::vector<Async<bool>> all;
  all.push_back(read(shared_from_this(), 0));
  all.push_back(read(shared_from_this(), 1));
  all.push_back(watch(shared_from_this(), longest));
  const std::shared_ptr<RunningCommand> self = shared_from_this();
  co_await together<bool>(std::move(all));
  co_return self->end_;
}

void RunningCommand::stop() {
  stopped_ = true;
  timer_.cancel();
}

bool RunningCommand::take(Stream& stream, std::size_t pieces) {
  std::array<char, kBite> buffer;
  for (std::size_t i = 0; i < pieces; ++i) {
    const ssize_t got = ::read(stream.from.native_handle(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    const auto size = static_cast<std::size_t>(got);
    const std::size_t room = std::min(size, kept_ - stream.kept.text.size());
    stream.kept.text.append(buffer.data(), room);
    stream.kept.dropped += size - room;
  }
  return true;
}

Async<bool> RunningCommand::read(std::shared_ptr<RunningCommand> self, std::size_t index) {
  Stream& stream = self->streams_[index];
  while (!self->over_ && self->take(stream, 1)) {
    if (self->over_) break;
    co_await stream.from.async_wait(asio::posix::stream_descriptor::wait_read,
                                    asio::as_tuple(asio::use_awaitable));
  }
  // Reads the last output of the command. Later output of descendants is not waited for.
  if (self->over_) self->take(stream, kLastBites);
  boost::system::error_code ignored;
  stream.from.close(ignored);
  co_return true;
}

Async<bool> RunningCommand::watch(std::shared_ptr<RunningCommand> self,
                                  std::chrono::milliseconds longest) {
  bool ended = co_await self->ends_within(longest);
  if (!ended) {
    self->end_.why = self->stopped_ ? CommandEnd::Why::Stopped : CommandEnd::Why::Time;
    ::kill(-self->pid_, SIGTERM);
    self->stopped_ = false;
    ended = co_await self->ends_within(kPatience);
  }
  // Also after its end, to kill the rest of the group.
  ::kill(-self->pid_, SIGKILL);
  // A process that is stuck in the kernel dies later. The caller does not wait for it.
  self->stopped_ = false;
  if (!ended) co_await self->ends_within(kPatience);
  self->reap();
  self->over_ = true;
  boost::system::error_code ignored;
  for (Stream& stream : self->streams_) {
    if (stream.from.is_open()) stream.from.cancel(ignored);
  }
  co_return true;
}

Async<bool> RunningCommand::ends_within(std::chrono::milliseconds longest) {
  using namespace asio::experimental::awaitable_operators;
  timer_.expires_after(longest);
  if (!stopped_ && !has_ended()) {
    co_await (ended_.async_wait(asio::posix::stream_descriptor::wait_read,
                                asio::as_tuple(asio::use_awaitable)) ||
              timer_.async_wait(asio::as_tuple(asio::use_awaitable)));
  }
  co_return has_ended();
}

bool RunningCommand::has_ended() const {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == pid_;
}

void RunningCommand::reap() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return;
  pid_ = -1;
  if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
}

}  // namespace sallyport::agent
