// Ends a run early: after a cancel, the deadline, a budget or a lost lease (EV-106, EV-107).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/run/settings.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "core/event/abort_reason.h"
#include "sallyport/usage.h"

namespace sallyport::agent {

struct Abort {
  core::AbortCause cause = core::AbortCause::Error;
  std::string detail{};

  std::string reason() const { return core::abort_reason(cause, detail); }
  bool operator==(const Abort&) const = default;
};

// One run owns it and uses it on its executor. `end` may be called from any thread.
class RunControl {
 public:
  // `cancel` ends the run as cancelled.
  RunControl(const LimitSettings& limits, const Clock& clock,
             const boost::asio::any_io_executor& executor, std::stop_token cancel);
  RunControl(const RunControl&) = delete;

  // Only the first cause counts. Wakes everything that waits with `stop`.
  void end(core::AbortCause cause, std::string detail = {});
  std::stop_token stop() const { return stop_.get_token(); }
  // Returns why the run must end; no value: it continues.
  std::optional<Abort> ended();
  // True if a wait of this length would pass the deadline.
  bool outlasts(std::chrono::milliseconds wait) const;

  // Counts an attempt to open an answer (EV-104). Returns an abort if it is over the limit.
  std::optional<Abort> take_attempt();
  // Counts a call. False: it is over the limit.
  bool take_call();
  std::size_t calls_left() const { return limits_.tool_calls - calls_; }
  void add(const Usage& usage);
  bool tokens_used_up() const { return tokens_ >= limits_.tokens; }

  Abort over_calls() const;
  Abort over_tokens() const;

  std::uint64_t calls() const { return calls_; }
  const Usage& usage() const { return usage_; }

 private:
  LimitSettings limits_;
  const Clock& clock_;
  SteadyTime deadline_;
  std::stop_source stop_;
  Guarded<std::optional<Abort>> abort_;
  boost::asio::steady_timer timer_;
  std::uint64_t attempts_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t tokens_ = 0;
  Usage usage_;
  struct OnCancel {
    RunControl& control;
    void operator()() const { control.end(core::AbortCause::Cancelled); }
  };
  std::stop_callback<OnCancel> on_cancel_;
};

}  // namespace sallyport::agent
