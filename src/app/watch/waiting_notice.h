// Tells people at this machine that a call waits for approval: a line on standard error with the
// command to run, and a desktop notification where there is a desktop. Owned by the gate, used on
// its loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/async.h"
#include "base/clock.h"
#include "core/approval/attendant.h"
#include "core/record/record_reader.h"
#include "machine/environment.h"

namespace sallyport::app {

// `notify-send`, if it is installed and a desktop shows it. No value: there is no display, no
// session bus, or no such program.
std::optional<std::filesystem::path> desktop_notifier(const Environment& environment);

class WaitingNotice {
 public:
  struct Parts {
    boost::asio::io_context& loop;
    core::RecordReader& records;
    const Clock& clock;
    std::function<void(std::string_view)> log;
    std::string data_dir{};  // as commands must name it; empty: they find it by themselves
    std::optional<std::filesystem::path> notifier{};
  };
  explicit WaitingNotice(Parts parts) : parts_(std::move(parts)) {}
  WaitingNotice(const WaitingNotice&) = delete;

  // Once for each approval request. Does not wait.
  void show(const core::WaitingCall& call);
  // Ends a notifier that still runs.
  void stop() { stop_.request_stop(); }

 private:
  void notify(std::string title, std::string body);
  Async<void> run_notifier(std::string title, std::string body);

  Parts parts_;
  std::deque<std::string> notified_ids_;  // ids of the latest requests
  bool notifying_ = false;
  std::optional<SteadyTime> notified_;
  std::stop_source stop_;
};

}  // namespace sallyport::app
