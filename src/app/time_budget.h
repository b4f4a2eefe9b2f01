// Answers in our place when we are late: a host that waits for us must not have to decide alone.
// Wherever the process is stuck, a signal writes the prepared answer and ends it. One at a time.
#pragma once

#include <chrono>
#include <string>

namespace sallyport::app {

class TimeBudget {
 public:
  explicit TimeBudget(std::chrono::milliseconds budget);
  TimeBudget(const TimeBudget&) = delete;
  ~TimeBudget();

  // What is written to standard output when the time is over, before an exit with 0.
  void answer_with(std::string answer);
  // From here on we answer ourselves, and there is no end to the time.
  void disarm();
};

}  // namespace sallyport::app
