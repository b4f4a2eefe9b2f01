// Answers for a hook that is late or dies, because most hosts then run the call. Whatever the
// process is doing, a signal writes the prepared answer and ends the process: at the deadline, when
// another process ends it, on a crash, and when memory runs out. There is one at a time.
#pragma once

#include <chrono>
#include <string>

namespace sallyport::app {

// The exit code that hosts treat as a denial if they can read no answer.
inline constexpr int kDeniedWithoutAnswer = 2;

class LastWord {
 public:
  struct Answers {
    std::string late;    // the time is over
    std::string broken;  // another cause ends the process
  };
  explicit LastWord(std::chrono::milliseconds time);
  LastWord(const LastWord&) = delete;
  ~LastWord();

  // Sets the answers to write to standard output, before an exit with 0. If none is set, or it
  // cannot be written, the exit code is `kDeniedWithoutAnswer`.
  void prepare(Answers answers);
  // From here on the process writes its own answer. The deadline is off, signals to end are ignored,
  // and a crash writes no prepared answer.
  void leave_to_us();
};

}  // namespace sallyport::app
