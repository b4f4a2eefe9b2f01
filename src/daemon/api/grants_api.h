// Capability tokens over HTTP: the tree of those that are known, and revoking one.
#pragma once

#include "api/http_api.h"
#include "base/clock.h"
#include "ledger/ledger.h"

namespace sallyport::app {

// All parts must outlive it.
class GrantsApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    core::RecordLog& records;  // the ledger, counted
    const Clock& clock;
  };
  explicit GrantsApi(Parts parts) : parts_(parts) {}

  void add_to(api::HttpApi& api);

 private:
  Result<api::Response> list(ledger::ReadView& view, const api::Request& request) const;
  Result<api::Response> show(const api::Request& request) const;
  Task<api::Response> revoke(api::Request request) const;

  Parts parts_;
  api::Readers* readers_ = nullptr;
};

}  // namespace sallyport::app
