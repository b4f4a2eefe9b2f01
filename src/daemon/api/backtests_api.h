// Backtests over HTTP: recorded calls, decided again under another policy (CO-60).
#pragma once

#include "api/http_api.h"
#include "daemon/api/backtest_desk.h"
#include "daemon/api/policy_desk.h"

namespace sallyport::app {

// All parts must outlive it.
class BacktestsApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    PolicyDesk& policies;
    BacktestDesk& desk;
  };
  explicit BacktestsApi(Parts parts) : parts_(parts) {}

  void add_to(api::HttpApi& api);

 private:
  Result<api::Response> start(const api::Request& request) const;
  Result<NamedPolicy> policy_in(const json::object& body) const;

  Parts parts_;
};

}  // namespace sallyport::app
