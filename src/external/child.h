// A program that answers through its standard streams, started with only what is named (RU-68). For
// a thread that may block.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "net/spawn.h"
#include "sallyport/result.h"

namespace sallyport::external {

inline constexpr std::size_t kMostErrorText = 4096;  // of standard error that is kept

using SteadyPoint = std::chrono::steady_clock::time_point;

// Milliseconds for poll(2), never negative.
int poll_time(SteadyPoint deadline);

// Not movable. The destructor kills its process group and reaps it.
class Child {
 public:
  // Starts it in `/`. `Unavailable` says why it cannot be started.
  static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& command,
                                              const net::Confinement& confinement);
  Child(const Child&) = delete;
  ~Child();

  // The three streams do not block. `input` is -1 once it is closed.
  int input() const { return input_; }
  int output() const { return output_; }
  int errors() const { return errors_; }
  int ended() const { return ended_; }  // readable once it has ended

  void close_input();
  // Kills the group. From any thread, any number of times.
  void kill() const;
  // Kills the rest of the group and reaps it. Returns `exit code 0` or `signal 9`. Called once.
  std::string finish();

 private:
  Child(pid_t pid, int input, int output, int errors);

  pid_t pid_;
  int input_;
  int output_;
  int errors_;
  int ended_;
  bool reaped_ = false;
};

// Writes as much as possible without blocking. `Unavailable`: the reader is gone.
Result<std::size_t> write_some(int to, std::string_view text);
// Reads the bytes that are available. No value: the stream has ended. Empty: nothing is there now.
std::optional<std::string> read_some(int from);

}  // namespace sallyport::external
