// A child process with pipes for its three standard streams.
#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "net/spawn.h"

namespace sallyport::net {

struct ExitStatus {
  int code = -1;  // -1: ended by a signal
  int signal = 0;

  std::string text() const;  // "exit code 1", "signal 9"
};

// Not movable. The destructor kills its process group and reaps it.
class ChildProcess {
 public:
  using Stream = boost::asio::posix::stream_descriptor;

  // Starts it in the current folder, or in the home of the account `run_as`. `Unavailable` says why
  // it cannot be started.
  static Result<std::unique_ptr<ChildProcess>> start(boost::asio::any_io_executor executor,
                                                     const std::vector<std::string>& arguments,
                                                     const std::optional<RunAs>& run_as = {});
  ChildProcess(const ChildProcess&) = delete;
  ~ChildProcess();

  Stream& input() { return input_; }
  Stream& output() { return output_; }
  Stream& errors() { return errors_; }
  pid_t pid() const { return pid_; }

  // Returns whether it has ended. Only one wait at a time.
  Async<bool> wait(std::chrono::milliseconds longest);

  // Closes its input and waits. If that is not enough, sends SIGTERM to the group and waits. Then
  // kills the group, with all processes that it left behind.
  Async<ExitStatus> stop(std::chrono::milliseconds patience);

 private:
  ChildProcess(boost::asio::any_io_executor executor, pid_t pid, int input, int output, int errors);

  pid_t pid_;
  Stream input_;
  Stream output_;
  Stream errors_;
  Stream ended_;  // a pidfd
  boost::asio::steady_timer timer_;
};

}  // namespace sallyport::net
