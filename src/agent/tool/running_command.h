// A running shell command: its process group and the beginning of its output (RT-40..RT-45).
//
//   SALLYPORT_TRY(const auto command, RunningCommand::start(executor, spec));
//   const CommandEnd end = co_await command->run(30s);
#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "net/spawn.h"

namespace sallyport::agent {

struct CommandSpec {
  const std::string& command;
  int folder = -1;                              // a handle of its working folder
  const std::vector<std::string>& environment;  // complete, as `NAME=value`
  const net::Cage* cage = nullptr;              // null: none
  std::size_t kept = 0;     // bytes of each stream; the rest is read and dropped
  bool one_stream = false;  // mixes output and errors
};

struct CommandEnd {
  enum class Why { Itself, Time, Stopped };
  Why why = Why::Itself;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
};

// One stream of a command.
struct KeptOutput {
  std::string text{};
  std::uint64_t dropped = 0;  // bytes after the text
};

// A running command. Its waiter and the coroutines that read its output share it, and may outlive
// the caller. Use it on one thread, which must live as long as the command: the command dies with
// that thread (RT-53).
class RunningCommand : public std::enable_shared_from_this<RunningCommand> {
 public:
  // `Unavailable` says why the command cannot start.
  static Result<std::shared_ptr<RunningCommand>> start(boost::asio::any_io_executor executor,
                                                       const CommandSpec& spec);
  RunningCommand(const RunningCommand&) = delete;
  ~RunningCommand();  // kills the group

  // Waits for the end of the command's own process, not of its descendants; those in its group end
  // with it. After `longest` the group is asked to end, and killed 2 s later. Call it once.
  Async<CommandEnd> run(std::chrono::milliseconds longest);
  // Asks the group to end, as after `longest`.
  void stop();

  const KeptOutput& output() const { return streams_[0].kept; }
  const KeptOutput& errors() const { return streams_[1].kept; }
  pid_t pid() const { return pid_; }

 private:
  struct Stream {
    explicit Stream(const boost::asio::any_io_executor& executor) : from(executor) {}
    boost::asio::posix::stream_descriptor from;
    KeptOutput kept{};
  };

  RunningCommand(const boost::asio::any_io_executor& executor, std::size_t kept);
  Result<void> begin(const CommandSpec& spec);
  static Async<bool> read(std::shared_ptr<RunningCommand> self, std::size_t index);
  static Async<bool> watch(std::shared_ptr<RunningCommand> self, std::chrono::milliseconds longest);
  // False: the stream has ended.
  bool take(Stream& stream, std::size_t pieces);
  Async<bool> ends_within(std::chrono::milliseconds longest);
  bool has_ended() const;
  void reap();

  const std::size_t kept_;
  std::vector<Stream> streams_;
  boost::asio::posix::stream_descriptor ended_;  // a pidfd
  boost::asio::steady_timer timer_;
  pid_t pid_ = -1;
  bool stopped_ = false;
  bool over_ = false;
  CommandEnd end_{};
};

}  // namespace sallyport::agent
