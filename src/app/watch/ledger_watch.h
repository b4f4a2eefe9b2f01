// Logs when the ledger stops accepting entries, so that calls are refused, and when it accepts them
// again; and when a reader keeps erased content in its files.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string_view>

#include "base/async.h"
#include "ledger/ledger.h"

namespace sallyport::app {

class LedgerWatch {
 public:
  using Log = std::function<void(std::string_view)>;
  // Must be outlived by `ledger`.
  LedgerWatch(const ledger::Ledger& ledger, Log log) : ledger_(ledger), log_(std::move(log)) {}

  // Until `stop`. On the executor that awaits it.
  Async<void> run();
  void stop();

 private:
  void look();
  void look_at_health();
  void look_at_files();

  const ledger::Ledger& ledger_;
  Log log_;
  ledger::Health reported_{};
  bool reported_scrub_ = false;
  std::optional<boost::asio::steady_timer> timer_;
  bool stopped_ = false;
};

}  // namespace sallyport::app
