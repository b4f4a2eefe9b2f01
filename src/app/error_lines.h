// Lines for standard error that never wait for whoever reads it: a client that does not must not
// stop the gateway. What is too much is dropped, and counted.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace sallyport::app {

class ErrorLines {
 public:
  ErrorLines();
  ErrorLines(const ErrorLines&) = delete;
  ~ErrorLines();  // waits a moment for what is on its way

  void say(std::string_view line);  // from any thread

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable more;
    std::condition_variable written;
    std::deque<std::string> lines;  // GUARDED_BY(mutex)
    std::size_t dropped = 0;        // GUARDED_BY(mutex)
    bool busy = false;              // GUARDED_BY(mutex)
    bool closed = false;            // GUARDED_BY(mutex)
  };
  static void write_lines(const std::shared_ptr<State>& state);

  // Shared: a writer that hangs in a write is left behind when the process ends.
  std::shared_ptr<State> state_;
};

}  // namespace sallyport::app
