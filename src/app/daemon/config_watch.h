// Notices changes of the configuration file of `sallyport serve` (MP-84). A file that is being
// written is read only after it has not changed for half a second.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "base/async.h"

namespace sallyport::app {

// Used on the loop that awaits `run`.
class ConfigWatch {
 public:
  using Changed = std::function<Async<void>()>;
  // The present state of the file counts as known.
  ConfigWatch(std::filesystem::path file, Changed changed);

  // Call it before the file is read: its present state counts as known.
  void known();
  // Until `stop`. Nothing else is looked at while `changed` runs.
  Async<void> run();
  void stop();

 private:
  using Stamp = std::pair<std::filesystem::file_time_type, std::uintmax_t>;
  std::optional<Stamp> stamp() const;

  std::filesystem::path file_;
  Changed changed_;
  std::optional<Stamp> known_;
  std::optional<Stamp> seen_;
  std::optional<boost::asio::steady_timer> timer_;
  bool stopped_ = false;
};

}  // namespace sallyport::app
