// A program that answers through its standard streams, started with nothing but what is named
// (RU-68). For a thread that may block.
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

// Stays where it is made. Its group is killed and it is reaped when it goes, at the latest.
class Child {
 public:
  // Its folder is `/`. `Unavailable` says why it cannot be started.
  static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& command,
                                              const net::Confinement& confinement);
  Child(const Child&) = delete;
  ~Child();

  // All three do not block. `input` is -1 once it is closed.
  int input() const { return input_; }
  int output() const { return output_; }
  int errors() const { return errors_; }
  int ended() const { return ended_; }  // readable once it has ended

  void close_input();
  // Kills the group. From any thread, as often as one likes.
  void kill() const;
  // Kills what is left of the group and reaps it: `exit code 0`, `signal 9`. Once.
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

// What could be written at once. `Unavailable`: the reader is gone.
Result<std::size_t> write_some(int to, std::string_view text);
// What is there; no value: it has ended. An empty text: there is nothing now.
std::optional<std::string> read_some(int from);

}  // namespace sallyport::external
