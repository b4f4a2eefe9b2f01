// A program that runs beside this one, with its three standard streams in our hands.
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

// Stays where it is made. Its group is killed and it is reaped when it goes, at the latest.
class ChildProcess {
 public:
  using Stream = boost::asio::posix::stream_descriptor;

  // Its folder is the current one, or the home of the account that it runs as. `Unavailable` says
  // why it cannot be started.
  static Result<std::unique_ptr<ChildProcess>> start(boost::asio::any_io_executor executor,
                                                     const std::vector<std::string>& arguments,
                                                     const std::optional<RunAs>& run_as = {});
  ChildProcess(const ChildProcess&) = delete;
  ~ChildProcess();

  Stream& input() { return input_; }
  Stream& output() { return output_; }
  Stream& errors() { return errors_; }
  pid_t pid() const { return pid_; }

  // True: it has ended. Only one wait at a time.
  Async<bool> wait(std::chrono::milliseconds longest);

  // Closes its input and waits, asks it to end and waits, then kills the group, each only where
  // that before was not enough. What it started and left behind dies too.
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
