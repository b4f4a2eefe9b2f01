// Notices changes of the configuration file of `sallyport serve` (MP-84). A file that is being
// written is read only after it has not changed for half a second.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <optional>

#include "app/watch/file_rest.h"
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
  // Runs until `stop`. Does not check the file while `changed` runs.
  Async<void> run();
  void stop();

 private:
  std::filesystem::path file_;
  Changed changed_;
  FileRest rest_;
  std::optional<boost::asio::steady_timer> timer_;
  bool stopped_ = false;
};

}  // namespace sallyport::app
