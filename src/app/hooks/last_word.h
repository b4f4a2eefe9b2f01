// Answers for a hook that cannot: most hosts run a call whose hook is late or has died. Whatever
// the process is doing, a signal writes the prepared answer and ends the process: at the deadline,
// when another process ends it, on a crash, and when memory runs out. One at a time.
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
  // From here on the process answers itself: no signal ends it before that, and there is no
  // deadline.
  void leave_to_us();
};

}  // namespace sallyport::app
