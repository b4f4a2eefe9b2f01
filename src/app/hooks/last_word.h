// Answers in our place when we cannot: most hosts let a call run whose hook is late or has died.
// Whatever the process is doing, a signal writes the prepared answer and ends it: when the time is
// over, when somebody ends us, when we crash or run out of memory. One at a time.
#pragma once

#include <chrono>
#include <string>

namespace sallyport::app {

// What hosts take for a denial where no answer can be read.
inline constexpr int kDeniedUnheard = 2;

class LastWord {
 public:
  struct Answers {
    std::string late;    // the time is over
    std::string broken;  // something else ends us
  };
  explicit LastWord(std::chrono::milliseconds time);
  LastWord(const LastWord&) = delete;
  ~LastWord();

  // What is written to standard output then, before an exit with 0. Before there is any, or where
  // it cannot be written, the exit is `kDeniedUnheard`.
  void prepare(Answers answers);
  // From here on we answer ourselves; nobody ends us before that, and there is no end to the time.
  void leave_to_us();
};

}  // namespace sallyport::app
