// Lines for standard error. A client that does not read them never stops the gateway: lines beyond
// the limit are dropped and counted.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "terminal/log_line.h"

namespace sallyport::app {

class ErrorLines {
 public:
  explicit ErrorLines(LogForm form);
  ErrorLines(const ErrorLines&) = delete;
  ~ErrorLines();  // waits a moment for what is on its way

  void print(std::string_view message);  // from any thread

 private:
  struct State {
    explicit State(LogForm how) : form(how) {}

    const LogForm form;
    Mutex mutex;
    Condition more;
    Condition written;
    std::deque<std::string> lines SALLYPORT_GUARDED_BY(mutex);
    std::size_t dropped SALLYPORT_GUARDED_BY(mutex) = 0;
    bool busy SALLYPORT_GUARDED_BY(mutex) = false;
    bool closed SALLYPORT_GUARDED_BY(mutex) = false;
  };
  static std::optional<std::string> next(State& state);
  static void write_lines(const std::shared_ptr<State>& state);

  // Shared: a writer that hangs in a write is left behind when the process ends.
  std::shared_ptr<State> state_;
};

}  // namespace sallyport::app
