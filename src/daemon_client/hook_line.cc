#include "daemon_client/hook_line.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "net/unix_socket.h"

namespace sallyport::app {

namespace {

using net::UnixSocket;

UnixSocket::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// An agent runs as the same user and could listen there too, but only this program judges as this
// program does. After an update it is another program.
bool is_this_program(int pid) {
  struct stat theirs{};
  struct stat ours{};
  return pid > 0 && ::stat(fmt::format("/proc/{}/exe", pid).c_str(), &theirs) == 0 &&
         ::stat("/proc/self/exe", &ours) == 0 && theirs.st_dev == ours.st_dev &&
         theirs.st_ino == ours.st_ino;
}

// True: the whole question was sent. The daemon ignores a partial question.
bool put(UnixSocket& daemon, const HookMessage& message, const HookPatience& patience) {
  if (!is_this_program(daemon.peer().pid)) return false;
  const Result<std::string> greeting =
      daemon.receive_frame(kHookGreeting.size(), in(patience.greeting));
  if (!greeting || *greeting != kHookGreeting) return false;
  return daemon.send_frame(to_frame(message), in(patience.question)).has_value();
}

}  // namespace

Result<std::optional<HookAnswer>> ask_hook_door(const std::filesystem::path& data_dir,
                                                const HookMessage& message,
                                                const HookPatience& patience) {
  Result<UnixSocket> daemon = UnixSocket::connect(data_dir, kHookSocket);
  if (!daemon || !put(*daemon, message, patience)) return std::nullopt;
  const Result<std::string> frame = daemon->receive_frame(kLargestHookAnswer, in(patience.answer));
  Result<HookAnswer> answer =
      frame ? hook_answer_in(*frame) : Result<HookAnswer>(std::unexpected(frame.error()));
  if (answer) return std::optional(std::move(*answer));
  return fail(ErrorCode::Unavailable,
              fmt::format("the daemon was asked and gave no answer ({})", answer.error().message));
}

}  // namespace sallyport::app
