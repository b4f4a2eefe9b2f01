// What a process gives to its external guards: threads to wait on, variables, and a log. Shared by
// the front and by abandoned questions.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "core/record/redactor.h"

namespace sallyport::external {

class Host {
 public:
  struct Settings {
    // The value of an environment variable; no value: it is not set.
    std::function<std::optional<std::string>(const std::string& name)> variable{};
    std::string data_folder{};
    // For operators. May be called by any thread. Empty: lines are dropped.
    std::function<void(std::string_view line)> log{};
  };
  Host(const core::Redactor& redactor, Settings settings)
      : redactor_(redactor),
        settings_(std::move(settings)),
        log_(std::exchange(settings_.log, nullptr)) {}
  Host(const Host&) = delete;
  // Waits for questions that are under way, which end at their deadlines.
  ~Host();
  // Must be called before the objects that `log` uses are destroyed.
  void stop_logging();

  // Blocking work of commands. Made when the first question is asked.
  boost::asio::thread_pool& pool();

  std::optional<std::string> variable(const std::string& name) const {
    return settings_.variable ? settings_.variable(name) : std::nullopt;
  }
  const std::string& data_folder() const { return settings_.data_folder; }
  const core::Redactor& redactor() const { return redactor_; }
  void log(std::string_view line) const;

 private:
  const core::Redactor& redactor_;
  Settings settings_;  // without `log`
  mutable Mutex mutex_;
  std::function<void(std::string_view line)> log_ SALLYPORT_GUARDED_BY(mutex_);
  std::unique_ptr<boost::asio::thread_pool> pool_ SALLYPORT_GUARDED_BY(mutex_);
};

}  // namespace sallyport::external
